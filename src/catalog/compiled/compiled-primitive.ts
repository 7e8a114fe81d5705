// The members that all compiled primitives have: the entry in a list, its position, and its scopes.

import type { CommonOptions, WhenMissing } from '../../platform/author/common-options.ts'
import type { UpstreamDefinition } from '../../platform/author/define-upstream.ts'
import { runAtOnce, visitAll, type Stepwise } from '../../base/turns.ts'
import { toWellFormedJson } from '../../base/text.ts'
import type { Located } from './contents.ts'
import { createReporter, type Problem } from './problem.ts'

export interface CompiledPrimitive {
  /** The name or the URI. Unique in its list. */
  readonly key: string
  readonly order: number
  /** A caller must hold all of these to use the primitive. */
  readonly scopes: readonly string[]
  readonly whenMissing: WhenMissing
  /**
   * Sets of scopes. A caller must hold all scopes of one of them to see the primitive, and to use it. Absent
   * if there is no such rule.
   */
  readonly seenWith?: ReadonlyArray<readonly string[]> | undefined
  /** The entry in the list, as JSON. */
  readonly json: string
  /** The upstreams that its handlers may call. `undefined`: all of the catalog. */
  readonly upstreams?: readonly UpstreamDefinition[] | undefined
}

type ListedOptions = Pick<CommonOptions, 'order' | 'scopes' | 'whenMissing' | 'upstreams'>
type Listable = Pick<Located<ListedOptions>, 'definition'>

/** The members of an entry. JSON leaves out those that are `undefined`. */
export type EntryMembers<T> = { readonly [K in keyof T]: T[K] | undefined }

/** @param members more members of the entry, which are JSON already, without braces. */
export function toCompiledPrimitive (
  key: string, { definition }: Listable, entry: object, members?: string
): CompiledPrimitive {
  const { order = 0, scopes = [], whenMissing = 'hide', upstreams } = definition
  const head = JSON.stringify(entry)
  // Joined to one piece: V8 would keep the pieces too, once a list is written.
  const json = members === undefined ? head : [head.slice(0, -1), ',', members, '}'].join('')
  return { key, order, scopes, whenMissing, json: toWellFormedJson(json), upstreams }
}

export function byKey<P extends CompiledPrimitive> (all: readonly P[]): ReadonlyMap<string, P> {
  return runAtOnce(indexByKey(all))
}

/** Does the work of `byKey` in steps. */
export function * indexByKey<P extends CompiledPrimitive> (
  all: readonly P[]
): Stepwise<ReadonlyMap<string, P>> {
  const byKey = new Map<string, P>()
  yield * visitAll(all, (one) => byKey.set(one.key, one))
  return byKey
}

export type ListPosition = Pick<CompiledPrimitive, 'key' | 'order'>

/** Orders a list. Clients and prompt caches rely on it: it must be the same for every request. */
export function compareListOrder (a: ListPosition, b: ListPosition): number {
  return a.order - b.order || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
}

/** The result of a definition, and its place. */
export interface Compiled<C, D = unknown> { readonly compiled: C, readonly located: Located<D> }

/** Returns the primitives in the order of their list. */
export function * inOrder<C extends CompiledPrimitive> (all: ReadonlyArray<Compiled<C>>): Stepwise<C[]> {
  const primitives: C[] = []
  let isOrdered = true
  yield * visitAll(all, ({ compiled }) => {
    const last = primitives.at(-1)
    isOrdered &&= last === undefined || compareListOrder(last, compiled) <= 0
    primitives.push(compiled)
  })
  // A sort is one step. The files of a catalog mostly have the order of their tools.
  return isOrdered ? primitives : primitives.sort(compareListOrder)
}

/** Finds names and URIs that are used twice. Each problem names the file that had the key first. */
export function * findDuplicates<C> (
  kind: string, all: ReadonlyArray<Compiled<C>>, keyOf: (compiled: C) => string
): Stepwise<Problem[]> {
  const problems: Problem[] = []
  const fileByKey = new Map<string, string>()
  yield * visitAll(all, ({ compiled, located }) => {
    const key = keyOf(compiled)
    const file = fileByKey.get(key)
    if (file === undefined) fileByKey.set(key, located.file)
    else {
      const rule = `the ${kind} ${JSON.stringify(key)} is already defined in ${file}`
      createReporter(problems, located)('', rule)
    }
  })
  return problems
}
