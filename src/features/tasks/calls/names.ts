// The names of calls that may be repeated: a repetition finds the record of the first call by its name.

import { networkOf } from '../../../platform/limits/holder.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import { readCallKey, reusedKey } from '../../../request/pipeline/run-deduped.ts'
import type { StartingCall } from '../../../request/pipeline/seams.ts'
import { toCanonicalJson } from '../../../request/questions/request-state.ts'
import type { SeenTask, TaskAccessDependencies } from '../clients/access.ts'
import type { TaskRecord } from '../records/record.ts'
import type { TaskKey, TaskRecords } from '../records/records.ts'

export interface CallName {
  /** The record of the call has this name. */
  readonly first: TaskKey
  /** What replicas call it that seal with another secret. */
  readonly otherKeys: readonly TaskKey[]
  /** Whether the client has sent a key, in order to repeat the call. */
  readonly isGiven: boolean
}

/** Returns `undefined` for a call that is not known by anything. Throws a ToolError for a malformed key. */
export function nameCall (
  records: TaskRecords, request: RequestContext, { tool, args }: StartingCall
): CallName | undefined {
  const key = readCallKey(request, args)
  if (key === undefined) return undefined
  const identity = toCanonicalJson([networkOf(request.caller), tool.key, ...key])
  const [first, ...otherKeys] = records.keysFor(request.principal, identity)
  return { first, otherKeys, isGiven: key[0] === 'key' }
}

/** Resolves to the record of the first call, whichever replica has named it. */
export async function findFirst (
  records: TaskRecords, { first, otherKeys }: CallName
): Promise<SeenTask | undefined> {
  for (const key of [first, ...otherKeys]) {
    const stored = await records.read(key)
    if (stored !== undefined) return { key, ...stored }
  }
  return undefined
}

/**
 * Resolves to the record of the first call, once it is durable and has a due time: a repetition may then tell
 * of it.
 */
export async function adoptFirst (
  { records, transitions }: Pick<TaskAccessDependencies, 'records' | 'transitions'>, name: CallName
): Promise<SeenTask | undefined> {
  for (;;) {
    const first = await findFirst(records, name)
    if (first === undefined) return undefined
    // Its replica may have been paused for so long that its due time was removed, and lost after that.
    if (first.record.generation === 0) await transitions.hold(first.key, 0)
    const stored = await records.adopt(first.key, first)
    if (stored !== undefined) return { key: first.key, ...stored }
  }
}

/** Throws a ToolError if the first call of the name had other arguments. */
export function assertSameCall ({ args: first }: Pick<TaskRecord, 'args'>, args: unknown): void {
  const isSame = toCanonicalJson(first ?? {}) === toCanonicalJson(args ?? {})
  if (!isSame) throw reusedKey()
}
