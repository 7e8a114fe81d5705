// Compiled primitives: what all of them have, and what tools and skills have beside it.

import type { CommonOptions, WhenMissing } from '../../platform/author/common-options.ts'
import type { Context, UndoContext } from '../../platform/author/context.ts'
import type { ToolDefinition } from '../../platform/author/define-tool.ts'
import type { UpstreamDefinition } from '../../platform/author/define-upstream.ts'
import type { CallLimits } from '../../platform/limits/call-limits.ts'
import type { ClientCapabilities } from '../../platform/protocol/capabilities.ts'
import type { Check } from '../../platform/schema/check.ts'
import type { JsonSchemaCheck } from '../../platform/schema/json-schema.ts'
import type { Repair } from '../../platform/schema/repair/argument-repair.ts'
import { runAtOnce, visitAll, type Stepwise } from '../../base/turns.ts'
import { toWellFormedJson } from '../../base/text.ts'
import type { Located } from './contents.ts'
import type { MirroredParam } from './definitions/mirrored-params.ts'
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

export interface CompiledTool extends CompiledPrimitive {
  /** Relative to the catalog folder. */
  readonly file: string
  readonly mirroredParams: readonly MirroredParam[]
  readonly requiredCapabilities: ClientCapabilities | undefined
  readonly timeoutMs: number | undefined
  readonly limits: CallLimits
  readonly audit: AuditRule
  /** `undefined` if a repeated call runs again. */
  readonly dedupe: DedupeRule | undefined
  /** `undefined` if no call goes on after its answer. */
  readonly task: TaskRule | undefined
  /** Whether a call of this tool continues a call of another one. */
  readonly continuesCalls?: boolean
  /** Whether a call of this tool reads what a cut has left out of a result. */
  readonly readsMore?: boolean
  readonly checkInput: Check
  /** Repairs arguments that the check refuses. */
  readonly repairInput: Repair
  /** Whether they are repaired. `undefined`: server.yaml decides. */
  readonly arguments: ToolDefinition['arguments']
  readonly checkOutput: Check | undefined
  /** Checks structured content by the JSON Schema of the output, as clients do. */
  readonly clientCheck: JsonSchemaCheck | undefined
  /** Calls `authorize` first, if the tool has it. */
  run (args: unknown, ctx: Context): unknown
}

/** How a repeated call gets the first answer: `authorize` is asked for each repetition. */
export interface DedupeRule extends Pick<CompiledTool, 'upstreams'> {
  /** A hash of the output schema: an answer that another release gave may not fit this one's. */
  readonly outputHash: string
  /** Throws, or rejects with, NotAllowed. */
  authorize (args: unknown, ctx: Context): void | Promise<void>
  /** Does not call `authorize`. */
  run (args: unknown, ctx: Context): unknown
}

/** How calls of a tool become tasks. Times are milliseconds. */
export interface TaskRule {
  /** Whether only a question makes a call a task, and only if the client cannot ask its user. */
  readonly isForQuestions: boolean
  /** Whether the model may pass on the answers to forms. */
  readonly relaysQuestions: boolean
  /** What clients must declare. `undefined` if a call may also be answered with its result. */
  readonly requiredCapabilities: ClientCapabilities | undefined
  readonly ttlMs: number
  readonly keepResultMs: number
  /** Whether the handler runs again when its replica is lost. */
  readonly mayRerun: boolean
  /** Undoes the work of a task that has ended without success. */
  readonly undo: ((args: unknown, ctx: UndoContext) => unknown) | undefined
  /** Whether a task goes on in code that has changed since it began. */
  readonly mayGoOnChanged: boolean
  /** Changes with the code of the tool. `undefined` if its file is not known. */
  readonly fingerprint: string | undefined
}

/** What the audit log keeps of a call. */
export interface AuditRule {
  /** The names of the arguments that the definition has. */
  readonly names: ReadonlySet<string>
  /** Whether values are kept too. */
  readonly hasValues: boolean
  /** Members whose values are never kept, at any depth. */
  readonly secretNames: ReadonlySet<string>
}

export interface CompiledSkill extends CompiledPrimitive {
  /** The URIs of its files. */
  readonly files: readonly string[]
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
  yield * visitAll(all, (primitive) => byKey.set(primitive.key, primitive))
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
