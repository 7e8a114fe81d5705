// The transitions of a task, as one table: in a phase, an event makes the next record. The first row that
// fits decides. This folder alone decides about the status of a task.

import {
  taskExpired, taskInterrupted, taskOutdated, taskPoisoned
} from '../../../platform/protocol/errors.ts'
import { findAnswers, hasAnswer } from './questions.ts'
import {
  endOfRun, hasSameRights, isAsleep, openQuestions, type TaskPhase, type TaskRecord
} from '../records/record.ts'
import { end, fail, toUndo } from './ends.ts'
import { RUN, RUN_ROWS } from './run-rows.ts'
import { begin, EARLY_MS, endSleeps, MAX_LOSSES, row, type TransitionRow } from './transition-row.ts'
import { UNDO_ROWS } from './undo-rows.ts'

const UNFINISHED: readonly TaskPhase[] = ['running', 'waiting', 'asking']

export const TRANSITIONS: readonly TransitionRow[] = [
  row({
    from: UNFINISHED,
    on: 'due',
    when: 'its time limit has passed',
    to: 'over',
    holds: (record, _, now) => endOfRun(record) <= now,
    change: (record) => fail(record, taskExpired(record.ttlMs))
  }),
  RUN.runsHere,
  row({
    from: ['running'],
    on: 'due',
    when: 'its handler was called and must not run again',
    to: 'over',
    holds: ({ mayRerun, isCalled }) => !mayRerun && isCalled,
    change: (record) => fail(record, taskInterrupted('The replica was lost'))
  }),
  row({
    from: ['running'],
    on: 'due',
    when: 'its replica was lost too often',
    to: 'over',
    holds: ({ losses }) => losses + 1 >= MAX_LOSSES,
    change: (record) => fail(record, taskPoisoned(MAX_LOSSES))
  }),
  row({
    from: ['running'],
    on: 'due',
    when: 'its replica was lost once',
    to: 'running',
    holds: ({ losses }, { isOutdated }) => losses === 0 && !isOutdated,
    change: (record) => ({ ...claim(record), losses: 1 })
  }),
  RUN.lost('its replica was lost again, or its tool has changed'),
  row({
    from: ['waiting', 'asking'],
    on: 'due',
    when: 'its tool has changed, and must not go on',
    to: 'over',
    holds: (record, { isOutdated }, now) => isOutdated && isAwake(record, now),
    change: (record) => fail(record, taskOutdated())
  }),
  row({
    from: ['waiting', 'asking'],
    on: 'due',
    when: 'its sleep is over',
    to: 'running',
    holds: (record, _, now) => isAwake(record, now),
    change: claim
  }),
  // The record is written, so that its generation is that of the due time: a claim that was not written may
  // have set the time of the next one.
  row({ from: ['waiting'], on: 'due', when: 'it sleeps', to: 'waiting', change: () => ({}) }),
  row({ from: ['asking'], on: 'due', when: 'no answer came', to: 'asking', change: () => ({}) }),

  row({
    from: ['running'],
    on: 'answered',
    when: 'its question is open',
    to: 'running',
    isQuiet: true,
    holds: (record, { responses }) => record.mergingRun === record.run && hasAnswer(record, responses),
    change: (record, { responses, principal }) => ({ ...findAnswers(record, responses), principal })
  }),
  row({
    from: ['waiting'],
    on: 'answered',
    when: 'its question is open',
    to: 'waiting',
    isQuiet: true,
    holds: (record, { responses }) => hasAnswer(record, responses),
    change: (record, { responses, principal }) => ({ ...findAnswers(record, responses), principal })
  }),
  row({
    from: ['asking'],
    on: 'answered',
    when: 'nothing is answered',
    to: 'asking',
    isQuiet: true,
    holds: (record, { responses }) => !hasAnswer(record, responses)
  }),
  row({
    from: ['asking'],
    on: 'answered',
    when: 'questions are left',
    to: 'asking',
    isQuiet: true,
    holds: (record, { responses }) => openQuestions(findAnswers(record, responses)).length > 0,
    change: (record, { responses, principal }) => ({ ...findAnswers(record, responses), principal })
  }),
  row({
    from: ['asking'],
    on: 'answered',
    when: 'this replica can run it',
    to: 'running',
    holds: (_, { mayRun }) => mayRun,
    // A sleep beside the question goes on.
    change: (record, { responses, principal }, now) => ({
      ...claim({ ...record, wakesAt: Math.min(record.wakesAt ?? 0, now) }),
      ...findAnswers(record, responses),
      principal
    })
  }),
  row({
    from: ['asking'],
    on: 'answered',
    when: 'another replica must run it',
    to: 'waiting',
    change: (record, { responses, principal }, now) => (
      { ...findAnswers(record, responses), principal, status: 'working', wakesAt: now }
    )
  }),
  row({
    from: ['asking'],
    on: 'unattended',
    when: 'its client was asked',
    to: 'asking',
    holds: ({ client }) => client.isUnattended !== true,
    change: ({ client }) => ({ client: { ...client, isUnattended: true } })
  }),
  ...UNFINISHED.map((phase) => row({
    from: [phase],
    on: 'accessed',
    when: 'with other rights than before',
    to: phase,
    isQuiet: true,
    holds: (record, { principal }) => !hasSameRights(record.principal, principal),
    change: (_, { principal }) => ({ principal })
  })),
  row({
    from: UNFINISHED,
    on: 'cancelled',
    to: 'over',
    change: (record) => ({
      ...end(record, { status: 'cancelled', statusMessage: undefined }),
      // The replica that runs the handler learns of the end within a lease.
      ...toUndo(record, record.isRunning ? undefined : 0)
    })
  }),
  row({
    from: ['waiting'],
    on: 'retried',
    when: 'it does not sleep',
    to: 'waiting',
    holds: (record) => !isAsleep(record),
    change: (_record, _event, now) => ({ losses: 0, pause: undefined, wakesAt: now })
  }),

  // Also if the record says so: the run may not know its own write, whose reply was lost.
  row({
    from: ['running'],
    on: 'called',
    when: 'its handler must not run again',
    to: 'running',
    isQuiet: true,
    change: () => ({ isCalled: true })
  }),
  ...RUN_ROWS,
  ...UNDO_ROWS
]

function isAwake ({ wakesAt = Infinity }: TaskRecord, now: number): boolean {
  return wakesAt <= now + EARLY_MS
}

/** Begins the next run of the handler. */
function claim (record: TaskRecord): Partial<TaskRecord> {
  const { run, mayRerun, sleeps, wakesAt } = record
  return {
    ...begin(record),
    status: 'working',
    mergingRun: run + 1,
    // A handler that may run again needs no write before its call.
    isCalled: mayRerun,
    sleeps: endSleeps(sleeps, wakesAt)
  }
}
