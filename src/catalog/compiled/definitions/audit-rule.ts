// What the audit log may keep of the arguments of a primitive, and which of its members are secrets.

import type { CommonOptions } from '../../../platform/author/common-options.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { targetOf } from '../../../platform/schema/subschemas.ts'
import type { AuditRule } from '../compiled-primitive.ts'

/**
 * @param names of the arguments.
 * @param schemas of the arguments and of the result. Properties that are `writeOnly` or a password are
 * secret.
 */
export function toAuditRule (
  { audit = 'names' }: Pick<CommonOptions, 'audit'>, names: Iterable<string>,
  ...schemas: readonly unknown[]
): AuditRule {
  let secretNames: Set<string> | undefined
  return {
    names: new Set(names),
    hasValues: audit === 'values',
    // Most rules are never asked: a catalog may have thousands of schemas.
    get secretNames () {
      if (secretNames === undefined) {
        secretNames = new Set()
        for (const schema of schemas) collectSecretNames(schema, schema, secretNames)
      }
      return secretNames
    }
  }
}

/** Adds the names of secret properties to `names`. */
function collectSecretNames (schema: unknown, root: unknown, names: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && isObject(value)) {
      for (const [name, property] of Object.entries(value)) if (isSecret(property, root)) names.add(name)
    }
    collectSecretNames(value, root, names)
  }
}

/** The keywords whose schemas a value of the property, or a part of it that has no name, must or may fit. */
const PARTS = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'] as const

function isSecret (schema: unknown, root: unknown, visited = new Set<unknown>()): boolean {
  if (!isObject(schema) || visited.has(schema)) return false
  visited.add(schema)
  if (schema.writeOnly === true || schema.format === 'password') return true
  const parts = [targetOf(root, schema.$ref), ...PARTS.flatMap((keyword) => schema[keyword])]
  return parts.some((part) => isSecret(part, root, visited))
}
