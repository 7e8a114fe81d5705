// What the console says of the catalog: the problems of the last load, advice, and the file of each
// primitive.

import { clock } from '../../base/time.ts'
import { counted } from '../../base/words.ts'
import { findAdvice } from '../../catalog/advice/find-advice.ts'
import { findHostAdvice } from '../../catalog/advice/hosts.ts'
import type { LoadedCatalog } from '../../catalog/compiled/catalog.ts'
import type { Located } from '../../catalog/compiled/contents.ts'
import type { Problem } from '../../catalog/compiled/problem.ts'
import { waysToSee } from '../../catalog/compiled/scopes/access-rule.ts'
import type { Snapshot } from '../../catalog/compiled/snapshot.ts'
import type { LoadObserver } from '../../catalog/folder/live/live-catalog.ts'

/** A problem or a piece of advice, for people. */
export interface ReportedProblem {
  /** In the catalog folder. Empty for a problem of the whole catalog. */
  readonly file: string
  /** A line with its column, an export or a field. Empty for the whole file. */
  readonly place: string
  readonly message: string
}

const MAX_ADVICE = 200

interface FailedLoad {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly problems: readonly ReportedProblem[]
}

export interface ServedFacts {
  readonly name: string
  readonly title?: string | undefined
  readonly version: string
  /** In milliseconds since 1970. */
  readonly loadedAt: number
  /** Present if the last load failed: the catalog before it is served. */
  readonly failure?: FailedLoad | undefined
  readonly advice: readonly ReportedProblem[]
  /** What hosts make of the tools. */
  readonly hosts: readonly ReportedProblem[]
  /** All scopes that the catalog names, sorted. */
  readonly scopes: readonly string[]
  /** The scopes that bring a primitive into the lists. The key is as in `tool:search_books`. */
  readonly scoped: { readonly [entry: string]: readonly string[] }
  /** The file of each primitive, by the same keys. */
  readonly files: { readonly [entry: string]: string }
}

export class CatalogReport implements LoadObserver {
  #facts: ServedFacts | undefined
  #loaded: LoadedCatalog | undefined
  #loadedAt = 0
  #failure: FailedLoad | undefined

  served (loaded: LoadedCatalog): void {
    this.#loaded = loaded
    this.#loadedAt = clock.now()
    this.#failure = undefined
    this.#facts = undefined
  }

  failed (problems: readonly Problem[]): void {
    this.#failure = { at: clock.now(), problems: problems.map(toReported) }
    this.#facts = undefined
  }

  /** Throws before the first load. */
  get facts (): ServedFacts {
    if (this.#loaded === undefined) throw new Error('no catalog is served yet')
    this.#facts ??= this.#describe(this.#loaded)
    return this.#facts
  }

  #describe ({ contents, snapshot }: LoadedCatalog): ServedFacts {
    const { server: { info }, version } = snapshot
    return {
      name: info.name,
      title: info.title,
      version,
      loadedAt: this.#loadedAt,
      failure: this.#failure,
      advice: clipAdvice([...contents.leftOut, ...findAdvice(contents, snapshot)].map(toReported)),
      hosts: clipAdvice(findHostAdvice(contents, snapshot).map(toReported), ' --hosts'),
      scopes: findScopes(snapshot),
      scoped: findScoped(snapshot),
      files: Object.fromEntries([
        ...contents.tools.map(toEntry('tool', ({ name }) => name)),
        ...contents.prompts.map(toEntry('prompt', ({ name }) => name)),
        ...[...contents.resources, ...contents.unlisted].map(toEntry('resource', ({ uri }) => uri)),
        ...contents.templates.map(toEntry('template', ({ uriTemplate }) => uriTemplate))
      ])
    }
  }
}

/** A page of thousands of pieces helps nobody, and takes seconds to show. */
function clipAdvice (advice: readonly ReportedProblem[], option = ''): readonly ReportedProblem[] {
  const excess = advice.length - MAX_ADVICE
  if (excess <= 0) return advice
  const pieces = counted(excess, 'more piece', 'more pieces')
  const message = `${pieces} of advice: npx trivet check${option} shows all`
  return [...advice.slice(0, MAX_ADVICE), { file: '', place: '', message }]
}

function toEntry<D> (
  kind: string, keyOf: (definition: D) => string
): (located: Located<D>) => readonly [string, string] {
  return ({ definition, file }) => [`${kind}:${keyOf(definition)}`, file]
}

function findScopes ({ primitives, server }: Snapshot): string[] {
  const { tools, prompts, listed, templates } = primitives
  const required = [tools, prompts, listed, templates].flat()
    .flatMap(({ scopes, seenWith = [] }) => [...scopes, ...seenWith.flat()])
  return [...new Set([...required, ...server.scopes.map(({ definition }) => definition.name)])].sort()
}

function findScoped ({ primitives: { tools, prompts, listed, templates } }: Snapshot): ServedFacts['scoped'] {
  const byKind = { tool: tools, prompt: prompts, resource: listed, template: templates }
  return Object.fromEntries(Object.entries(byKind).flatMap(([kind, compiled]) => compiled.flatMap((entry) => {
    const ways = waysToSee(entry)
    return ways.some((scopes) => scopes.length === 0) ? [] : [[`${kind}:${entry.key}`, ways[0] ?? []]]
  })))
}

function toReported ({ file, place, column, rule }: Problem): ReportedProblem {
  return { file, place: column === undefined ? place : `${place}, column ${column}`, message: rule }
}
