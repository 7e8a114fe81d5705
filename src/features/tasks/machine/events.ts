// What can happen to a task.

import type { KeptTokensByName } from '../../../request/pipeline/seams.ts'
import type { ProtocolError } from '../../../platform/protocol/errors.ts'
import type { Responses } from './questions.ts'
import type { JournalRecord, KeptPrincipal, TaskRecord } from '../records/record.ts'

/** What the journal of a run adds to the record. Its answers are those that the run knows. */
export type JournalMembers = JournalRecord & Pick<TaskRecord, 'statusMessage' | 'progress'>

/** An event from outside of a run. */
type OuterEvent =
  /**
   * A replica took the due entry.
   * @param run that of the record that the replica has read: another one may have begun meanwhile.
   * @param isHere the task runs on this replica.
   * @param isOutdated the code of the tool has changed here, and the task must not go on in it.
   */
  | {
    readonly type: 'due', readonly run: number, readonly isHere: boolean, readonly isOutdated: boolean
  }
  /** @param mayRun whether this replica can run the handler. */
  | {
    readonly type: 'answered'
    readonly responses: Responses
    readonly principal: KeptPrincipal
    readonly mayRun: boolean
  }
  /** The owner was allowed to see the task. */
  | { readonly type: 'accessed', readonly principal: KeptPrincipal }
  | { readonly type: 'cancelled' }
  /** The client has nobody whom it could ask. */
  | { readonly type: 'unattended' }
  /** An operator wants the handler to run now. */
  | { readonly type: 'retried' }

/** Why a run ends without an outcome, and when the next one begins. Without a pause it begins at once. */
export interface Deferral extends Pick<TaskRecord, 'pause'> { readonly inMs: number }

/** What the run of a handler says of itself. */
export type RunEvent =
  /** The handler is about to be called. */
  | { readonly type: 'called' }
  /** @param upstreamTokens absent: as before. */
  | {
    readonly type: 'kept', readonly journal: JournalMembers, readonly upstreamTokens?: KeptTokensByName
  }
  /** It goes on after its lease: a replica that has taken the due entry since must not begin the next run. */
  | { readonly type: 'reclaimed' }
  /**
   * The handler must run again.
   * @param asked the questions that it has asked, as JSON. The journal has no answers to them that fit.
   * @param unfit the keys of those whose answer the run knows: it does not fit.
   */
  | {
    readonly type: 'suspended'
    readonly journal: JournalMembers
    readonly asked: ReadonlyMap<string, string>
    readonly unfit: ReadonlySet<string>
    readonly wakesAt: number | undefined
  }
  /** A limit or an outage of the store keeps the handler from its end, or this replica gives it back. */
  | ({ readonly type: 'deferred', readonly journal: JournalMembers } & Deferral)
  /** The service is closing. */
  | { readonly type: 'stopped', readonly journal: JournalMembers }
  | { readonly type: 'expired', readonly journal: JournalMembers }
  /** @param isError whether the result has `isError`: it is no success. */
  | {
    readonly type: 'completed'
    readonly journal: JournalMembers
    readonly result: string
    readonly isError: boolean
  }
  | { readonly type: 'failed', readonly journal: JournalMembers, readonly error: ProtocolError }

/** The events of an earlier run change nothing. */
export type TaskEvent = OuterEvent | (RunEvent & { readonly run: number })
