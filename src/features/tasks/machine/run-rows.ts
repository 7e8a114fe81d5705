// The transitions of a task that a run of its handler makes.

import { taskExpired, taskInterrupted } from '../../../platform/protocol/errors.ts'
import type { JournalMembers } from './events.ts'
import { addQuestions, findUnanswered } from './questions.ts'
import type { TaskRecord } from '../records/record.ts'
import { endWithResult, fail, toUndo } from './ends.ts'
import { reclaim, row, type TransitionRow } from './transition-row.ts'

const NONE: ReadonlySet<string> = new Set()

export const RUN_ROWS: readonly TransitionRow[] = [
  row({
    from: ['running'],
    on: 'kept',
    to: 'running',
    isQuiet: true,
    change: (record, { journal, upstreamTokens = record.upstreamTokens }) => ({
      ...addJournal(record, journal), ...countLosses(record, journal), upstreamTokens
    })
  }),
  row({ from: ['running'], on: 'reclaimed', to: 'running', change: reclaim }),
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
    holds: (_, { asked }) => asked.size > 0,
    change: (record, event) => ({
      ...addJournal(record, event.journal, event.unfit),
      questions: addQuestions(record.questions, findUnanswered(record, event)),
      status: 'input_required',
      isRunning: false,
      losses: 0,
      wakesAt: event.wakesAt
    })
  }),
  row({
    from: ['running'],
    on: 'suspended',
    when: 'it sleeps',
    to: 'waiting',
    // Its open questions stay open: it may come to them after the sleep.
    change: (record, { journal, wakesAt = 0 }) => (
      { ...addJournal(record, journal), isRunning: false, losses: 0, wakesAt }
    )
  }),
  row({
    from: ['running'],
    on: 'deferred',
    to: 'waiting',
    change: (record, { journal, inMs, pause }, now) => ({
      ...addJournal(record, journal), isRunning: false, pause, wakesAt: now + inMs
    })
  }),
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

/** A new step shows that the task does not end its replica at the same place again. */
function countLosses ({ results, losses }: TaskRecord, journal: JournalMembers): Partial<TaskRecord> {
  return { losses: Object.keys(journal.results).length > Object.keys(results).length ? 0 : losses }
}
