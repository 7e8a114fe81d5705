// The transitions of a task that a run of its handler makes.

import { taskExpired, taskInterrupted } from '../../../platform/protocol/errors.ts'
import type { JournalMembers } from './events.ts'
import { addQuestions, findUnanswered } from './questions.ts'
import type { TaskRecord } from '../records/record.ts'
import { endWithResult, fail, toUndo } from './ends.ts'
import { createSharedRows } from './shared-rows.ts'
import { row, type TransitionRow } from './transition-row.ts'

const NONE: ReadonlySet<string> = new Set()

export const RUN = createSharedRows({
  phase: 'running', pausePhase: 'waiting', subject: 'it', resultsOf: ({ results }) => results, addJournal
})

export const RUN_ROWS: readonly TransitionRow[] = [
  RUN.kept,
  RUN.reclaimed,
  row({
    from: ['running'],
    on: 'suspended',
    when: 'its questions were answered meanwhile',
    to: 'waiting',
    holds: (record, event) => event.asked.size > 0 && findUnanswered(record, event).size === 0,
    change: (record, { journal }, now) => (
      { ...addJournal(record, journal), isRunning: false, losses: 0, wakesAt: now }
    )
  }),
  row({
    from: ['running'],
    on: 'suspended',
    when: 'it asks',
    to: 'asking',
    holds: (_, { asked: questions }) => questions.size > 0,
    change: (record, event) => ({
      ...addJournal(record, event.journal, event.unfit),
      questions: addQuestions(record.questions, findUnanswered(record, event)),
      status: 'input_required',
      isRunning: false,
      losses: 0,
      wakesAt: event.wakesAt
    })
  }),
  RUN.sleeps,
  RUN.deferred,
  row({
    from: ['running'],
    on: 'stopped',
    when: 'its handler may run again',
    to: 'waiting',
    holds: ({ mayRerun }) => mayRerun,
    change: (record, { journal }, now) => (
      { ...addJournal(record, journal), isRunning: false, wakesAt: now }
    )
  }),
  row({
    from: ['running'],
    on: 'stopped',
    when: 'its handler must not run again',
    to: 'over',
    change: (record, { journal }) => (
      { ...addJournal(record, journal), ...fail(record, taskInterrupted('The replica was stopped')) }
    )
  }),
  row({
    from: ['running'],
    on: 'expired',
    to: 'over',
    change: (record, { journal }) => (
      { ...addJournal(record, journal), ...fail(record, taskExpired(record.ttlMs)) }
    )
  }),
  row({
    from: ['running'],
    on: 'completed',
    when: 'its result is an error',
    to: 'over',
    holds: (_, { isError }) => isError,
    change: (record, { journal, result }) => ({
      ...addJournal(record, journal), ...endWithResult(record, result), ...toUndo(record, 0)
    })
  }),
  row({
    from: ['running'],
    on: 'completed',
    to: 'over',
    change: (record, { journal, result }) => (
      { ...addJournal(record, journal), ...endWithResult(record, result) }
    )
  }),
  row({
    from: ['running'],
    on: 'failed',
    to: 'over',
    change: (record, { journal, error }) => ({ ...addJournal(record, journal), ...fail(record, error) })
  })
]

/**
 * Adds what the run says to the record, whose answers may have come while it ran.
 * @param unfit the keys of answers that the handler has refused.
 */
function addJournal (
  record: TaskRecord, { answers, ...journal }: JournalMembers, unfit: ReadonlySet<string> = NONE
): Partial<TaskRecord> {
  const entries = Object.entries({ ...record.answers, ...answers }).filter(([key]) => !unfit.has(key))
  return { ...journal, answers: Object.fromEntries(entries) }
}
