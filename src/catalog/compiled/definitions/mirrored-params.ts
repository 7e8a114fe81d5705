// Tool parameters that clients mirror into `Mcp-Param-*` headers: found at load, and read at each call.
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header

import type { MirroredField } from '../../../platform/protocol/header-values.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../../platform/protocol/primitives.ts'
import { mapSubschemas, VALUES } from '../../../platform/schema/subschemas.ts'
import type { ReportProblem } from '../problem.ts'

export interface MirroredParam {
  readonly header: string
  /** The chain of `properties` keys that leads to the value. */
  readonly path: readonly string[]
}

const KEYWORD = 'x-mcp-header'
// RFC 9110: a token is one or more tchar.
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Whether to call `findMirroredParams`, which takes longer. Most schemas have no annotation. */
export function mayMirrorParams (json: string): boolean {
  return json.includes(`"${KEYWORD}"`)
}

/** Finds the annotated properties and reports their problems. A client drops a tool with such a problem. */
export function findMirroredParams (schema: JsonSchema, report: ReportProblem): MirroredParam[] {
  const params: MirroredParam[] = []
  const names = new Set<string>()
  walk(schema, '', [])
  return params

  /** @param path the `properties` keys that lead here. `undefined` when any other keyword leads here. */
  function walk (node: unknown, place: string, path: readonly string[] | undefined): void {
    if (!isObject(node)) return
    if (KEYWORD in node) readAnnotation(node, `${place}/${KEYWORD}`, path)
    for (const [keyword, value] of Object.entries(node)) {
      // An `x-mcp-header` in a value is not an annotation.
      if (VALUES.has(keyword)) continue
      const outer = keyword === 'properties' ? path : undefined
      mapSubschemas(
        keyword, value, (part, at, name) => walk(part, `${place}/${at}`, outer && [...outer, name])
      )
    }
  }

  function readAnnotation (node: JsonSchema, place: string, path: readonly string[] | undefined): void {
    const { [KEYWORD]: name, type } = node
    if (typeof name !== 'string' || !TOKEN.test(name)) {
      const rule = "must be an HTTP token (letters, digits and !#$%&'*+-.^_`|~)"
      report(place, `${rule}, got ${JSON.stringify(name)}`)
    } else if (names.has(name.toLowerCase())) {
      report(place, `names the header Mcp-Param-${name} a second time; header names ignore case`)
    } else if (path === undefined || path.length === 0) {
      report(place, 'must stand on a property that is reached through "properties" alone')
    } else if (type !== 'string' && type !== 'integer' && type !== 'boolean') {
      const rule = 'must stand on a property of type string, integer or boolean'
      report(place, `${rule}, got ${JSON.stringify(type)}`)
    } else if (type === 'integer' && !isSafeRange(node)) {
      report(place, 'must stand on an integer within ±(2^53 − 1)')
    } else {
      names.add(name.toLowerCase())
      params.push({ header: `Mcp-Param-${name}`, path })
    }
  }
}

function isSafeRange (node: JsonSchema): boolean {
  return [node.minimum, node.maximum, node.exclusiveMinimum, node.exclusiveMaximum]
    .every((bound) => typeof bound !== 'number' || Math.abs(bound) <= Number.MAX_SAFE_INTEGER)
}

/** Returns the values that the headers of a call must have. */
export function mirroredFields (params: readonly MirroredParam[], args: unknown): MirroredField[] {
  return params.map(({ header, path }) => {
    const value = path.reduce<unknown>(
      (at, key) => isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined, args
    )
    const mirrored = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return { header, value: mirrored ? value : undefined }
  })
}
