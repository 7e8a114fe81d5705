// The record with which a call becomes a task.

import { networkOf } from '../../../platform/limits/holder.ts'
import { clock } from '../../../base/time.ts'
import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import { LimitReached } from '../../../platform/protocol/errors.ts'
import type { Progress } from '../../../platform/protocol/notifications.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import type { KeptTokensByName, StartingCall, UpstreamTokens } from '../../../request/pipeline/seams.ts'
import { newMark, retryOutage } from '../../../platform/store/records/lost-replies.ts'
import { findFirst, type CallName } from './names.ts'
import type { TaskJournal } from '../journal/journal.ts'
import { toKeptPrincipal, type TaskRecord } from '../records/record.ts'
import { formOf } from '../records/task-bytes.ts'
import { LOST_REPLY, TaskTaken, type CreatedTask, type TaskKey } from '../records/records.ts'
import { isShortLease, type TransitionDependencies, type Transitions } from '../machine/transitions.ts'
import { toStatusMessage } from '../runs/watches.ts'

const LINKS: ClientCapabilities = { elicitation: { url: {} } }
const FORMS_AND_LINKS: ClientCapabilities = { elicitation: { form: {}, url: {} } }

/** Returns what a model may pass on: each may show a link. */
export function relayedBy ({ relaysQuestions }: FirstRunOptions['rule']): ClientCapabilities {
  return relaysQuestions ? FORMS_AND_LINKS : LINKS
}

/** How the call becomes a task, and how its client learns of the end. */
export interface FirstRunOptions {
  readonly tool: Pick<StartingCall['tool'], 'key' | 'scopes'>
  readonly rule: NonNullable<StartingCall['tool']['task']>
  /** The arguments as the client sent them. */
  readonly args: unknown
  /** Names the call if it may be repeated. */
  readonly name: CallName | undefined
  /** Whether the client takes tasks. Otherwise its model is told how to continue the call. */
  readonly takesTasks: boolean
  /** What the client is asked though it has not declared it. */
  readonly relayed: ClientCapabilities | undefined
  /** Whether the client has nobody whom it could ask. */
  readonly isUnattended?: true | undefined
}

interface FirstRecordDependencies extends Pick<TransitionDependencies, 'records' | 'leaseMs'> {
  readonly transitions: Transitions
}

/** The name of a call that has a due time, and no record yet. */
interface HeldCall {
  readonly key: TaskKey
  /** When the lease began at the latest, in milliseconds of the monotonic clock. */
  readonly heldAt: number
  /** Whether an earlier call may have had the name, and have left a due time without a record. */
  readonly isShared: boolean
}

/**
 * Makes the record of a call due within a lease before there is one: without a due time, a task is lost with
 * its replica. The answer also tells the time of the store. Rejects with a TaskTaken for a repetition, which
 * must not move the due time of the first call.
 */
export async function holdFirst (
  { records, transitions }: FirstRecordDependencies, { principal }: Pick<RequestContext, 'principal'>,
  name: CallName | undefined
): Promise<HeldCall> {
  const key = name?.first ?? records.newKey(principal)
  return await retryOutage(async () => {
    if (name !== undefined && await findFirst(records, name) !== undefined) throw new TaskTaken()
    const heldAt = clock.monotonic()
    await transitions.hold(key, 0)
    return { key, heldAt, isShared: name !== undefined }
  }, LOST_REPLY)
}

/** Resolves to what the task keeps to call upstreams as its caller, after its request has ended. */
export async function exchangeTokens (
  { upstreamTokens }: { readonly upstreamTokens?: UpstreamTokens },
  { principal }: Pick<RequestContext, 'principal'>, { tool }: Pick<FirstRunOptions, 'tool'>
): Promise<KeptTokensByName | undefined> {
  return await upstreamTokens?.exchange(principal, tool.key)
}

/** Creates the record. Rejects as `create` of the records does. */
export async function storeFirst (
  { records, transitions, leaseMs }: FirstRecordDependencies, { key, heldAt, isShared }: HeldCall,
  record: TaskRecord
): Promise<CreatedTask> {
  const created = await records.create(key, record).catch(async (error: unknown) => {
    if (error instanceof LimitReached) await transitions.removeDue(key)
    throw error
  })
  // A replica that has found no record has removed the due time: it looked after the lease, or for an earlier
  // call of the name. After a slow creation the first renewal could come too late, too.
  if (isShared || isShortLease(heldAt, leaseMs)) {
    await transitions.insist(async () => await transitions.hold(key, record.generation + 1))
  }
  return created
}

/** @param now by the clock of the store. @param progress the latest so far. */
export function toFirstRecord (
  { requestId, principal, caller, revision, envelope, observed }: RequestContext,
  { tool: { key, scopes }, rule, args, relayed, isUnattended }: FirstRunOptions,
  { members }: Pick<TaskJournal, 'members'>, now: number, progress: Progress | undefined
): TaskRecord {
  const { ttlMs, keepResultMs, mayRerun, undo, fingerprint } = rule
  return {
    tool: key,
    toolScopes: scopes,
    args,
    principal: toKeptPrincipal(principal),
    network: networkOf(caller),
    client: {
      revision, capabilities: envelope.clientCapabilities, info: envelope.clientInfo, isUnattended
    },
    relayed,
    requestId,
    traceId: observed.traceId,
    createdAt: now,
    ttlMs,
    keepResultMs,
    mayRerun,
    mayUndo: undo !== undefined,
    fingerprint,
    form: formOf({ relayed }),
    generation: 0,
    mark: newMark(),
    status: 'working',
    statusMessage: progress && toStatusMessage(progress),
    progress: progress?.progress,
    updatedAt: now,
    run: 1,
    mergingRun: 1,
    isRunning: true,
    isCalled: true,
    losses: 0,
    questions: {},
    ...members
  }
}
