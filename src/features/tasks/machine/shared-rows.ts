// The transitions that a run of the handler and a run of `undo` have in common.

import type { JournalMembers } from './events.ts'
import { formOf } from '../records/task-bytes.ts'
import type { TaskPhase, TaskRecord } from '../records/record.ts'
import { LOSS_PAUSES_MS, row } from './transition-row.ts'

interface RunKind {
  /** The phase during a run. */
  readonly phase: TaskPhase
  /** The phase between two runs. */
  readonly pausePhase: TaskPhase
  /** The noun in the conditions. */
  readonly subject: string
  /** The steps of earlier runs. */
  resultsOf (record: TaskRecord): TaskRecord['results']
  addJournal (record: TaskRecord, journal: JournalMembers): Partial<TaskRecord>
}

/** Creates the rows of one kind of run, by name. */
export function createSharedRows ({ phase, pausePhase, subject, resultsOf, addJournal }: RunKind) {
  const from = [phase]
  return {
    /** The event loop was busy: the lease was not renewed in time. */
    runsHere: row({
      from, on: 'due', when: `${subject} runs here`, to: phase, holds: (_, { isHere }) => isHere
    }),
    lost: (when: string) => row({
      from,
      on: 'due',
      when,
      to: pausePhase,
      change: ({ losses }, _, now) => ({
        isRunning: false, losses: losses + 1, pause: 'loss', wakesAt: now + (LOSS_PAUSES_MS[losses] ?? 0)
      })
    }),
    kept: row({
      from,
      on: 'kept',
      to: phase,
      isQuiet: true,
      change: (record, { journal, upstreamTokens = record.upstreamTokens }) => {
        // A new step shows that the task does not end its replica at the same place again.
        const hasNewStep = Object.keys(journal.results).length > Object.keys(resultsOf(record)).length
        return {
          ...addJournal(record, journal), losses: hasNewStep ? 0 : record.losses, upstreamTokens
        }
      }
    }),
    /** Gives a run that goes on after its lease another number: a replica that takes over has the old one. */
    reclaimed: row({
      from,
      on: 'reclaimed',
      to: phase,
      change: (record) => ({ run: record.run + 1, mergingRun: record.run + 1, form: formOf(record) })
    }),
    sleeps: row({
      from,
      on: 'suspended',
      when: `${subject} sleeps`,
      to: pausePhase,
      // Open questions stay open: the handler may come to them after the sleep.
      change: (record, { journal, wakesAt = 0 }) => (
        { ...addJournal(record, journal), isRunning: false, losses: 0, wakesAt }
      )
    }),
    deferred: row({
      from,
      on: 'deferred',
      to: pausePhase,
      change: (record, { journal, inMs, pause }, now) => ({
        ...addJournal(record, journal), isRunning: false, pause, wakesAt: now + inMs
      })
    })
  }
}
