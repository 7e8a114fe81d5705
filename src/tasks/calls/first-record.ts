// The record with which a call becomes a task.

import { networkOf } from '../../limits/holder.ts'
import type { ClientCapabilities } from '../../protocol/capabilities.ts'
import type { RequestContext } from '../../request/pipeline/request-context.ts'
import type { StartingCall } from '../../request/pipeline/seams.ts'
import { newMark } from '../../store/records/lost-replies.ts'
import type { CallName } from './names.ts'
import type { TaskJournal } from '../journal.ts'
import { formOf, toKeptPrincipal, type TaskRecord } from '../record.ts'

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
}

/** @param now by the clock of the store. @param statusMessage the progress so far. */
export function toFirstRecord (
  { requestId, principal, caller, revision, envelope, observed }: RequestContext,
  { tool: { key, scopes }, rule, args, relayed }: FirstRunOptions, { members }: Pick<TaskJournal, 'members'>,
  now: number, statusMessage: string | undefined
): TaskRecord {
  const { ttlMs, keepResultMs, mayRerun, undo, fingerprint } = rule
  return {
    tool: key,
    toolScopes: scopes,
    args,
    principal: toKeptPrincipal(principal),
    network: networkOf(caller),
    client: { revision, capabilities: envelope.clientCapabilities, info: envelope.clientInfo },
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
    statusMessage,
    updatedAt: now,
    run: 1,
    isRunning: true,
    isCalled: true,
    losses: 0,
    questions: {},
    ...members
  }
}
