// The transitions of a task, as one table: in a phase, an event makes the next record. The first row that
// fits decides. No other file decides anything about the status of a task.

import { taskExpired, taskInterrupted, taskPoisoned, type ProtocolError } from '../protocol/errors.ts'
import type { JournalMembers, TaskEvent } from './events.ts'
import { addQuestions, findAnswers, hasAnswer } from './questions.ts'
import { endOfWork, openQuestions, type KeptPrincipal, type TaskPhase, type TaskRecord } from './record.ts'

type EventType = TaskEvent['type']
type EventOf<E extends EventType> = Extract<TaskEvent, { type: E }>

interface RowFacts {
  readonly from: readonly TaskPhase[]
  readonly on: EventType
  /** The condition, for the picture in the documentation. */
  readonly when?: string
  readonly to: TaskPhase
  /** Whether the due time stays as it is. */
  readonly isQuiet?: boolean
}

/** A row for one event. Its functions are methods, so that it is a row for any event too. */
interface Row<E extends EventType> extends RowFacts {
  readonly on: E
  holds? (record: TaskRecord, event: EventOf<E>, now: number): boolean
  /** Absent if nothing is written. */
  change? (record: TaskRecord, event: EventOf<E>, now: number): Partial<TaskRecord>
}

/** A row of the table. The first one that fits an event decides. */
export interface TransitionRow extends RowFacts {
  holds? (record: TaskRecord, event: TaskEvent, now: number): boolean
  change? (record: TaskRecord, event: TaskEvent, now: number): Partial<TaskRecord>
}

/** After this many losses of its replica without a new step between them a task fails. */
export const MAX_LOSSES = 5
/** The pauses before a task is taken over, in milliseconds: a task that ends its replica must not end all. */
const LOSS_PAUSES_MS = [0, 1000, 5000, 20_000]
/** The due time may come this much before the end of a sleep, in milliseconds. */
const EARLY_MS = 100

const UNFINISHED: readonly TaskPhase[] = ['running', 'waiting', 'asking']

export const TRANSITIONS: readonly TransitionRow[] = [
  row({ from: ['over'], on: 'due', to: 'over' }),
  row({
    from: UNFINISHED,
    on: 'due',
    when: 'its time limit has passed',
    to: 'over',
    holds: (record, _, now) => endOfWork(record) <= now,
    change: (record) => fail(record, taskExpired(record.ttlMs))
  }),
  // The event loop was busy: the lease was not renewed in time.
  row({
    from: ['running'],
    on: 'due',
    when: 'it runs here',
    to: 'running',
    holds: (_, { isHere }) => isHere
  }),
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
    holds: ({ losses }) => losses === 0,
    change: (record) => ({ ...claim(record), losses: 1 })
  }),
  row({
    from: ['running'],
    on: 'due',
    when: 'its replica was lost again',
    to: 'waiting',
    change: ({ losses }, _, now) => ({
      isRunning: false, losses: losses + 1, wakesAt: now + (LOSS_PAUSES_MS[losses] ?? 0)
    })
  }),
  row({
    from: ['waiting', 'asking'],
    on: 'due',
    when: 'its sleep is over',
    to: 'running',
    holds: ({ wakesAt = Infinity }, _, now) => wakesAt <= now + EARLY_MS,
    change: claim
  }),
  // The record is written, so that its generation is that of the due time: a claim that was not written may
  // have set the time of the next one.
  row({ from: ['waiting'], on: 'due', when: 'it sleeps', to: 'waiting', change: () => ({}) }),
  row({ from: ['asking'], on: 'due', when: 'no answer came', to: 'asking', change: () => ({}) }),

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
    change: (record) => end(record, { status: 'cancelled', statusMessage: undefined })
  }),

  row({
    from: ['running'],
    on: 'called',
    when: 'its handler must not run again',
    to: 'running',
    isQuiet: true,
    holds: ({ isCalled }) => !isCalled,
    change: () => ({ isCalled: true })
  }),
  row({
    from: ['running'],
    on: 'kept',
    to: 'running',
    isQuiet: true,
    change: (record, { journal }) => ({ ...journal, ...countLosses(record, journal) })
  }),
  row({
    from: ['running'],
    on: 'suspended',
    when: 'it asks',
    to: 'asking',
    holds: (_, { asked }) => asked.size > 0,
    change: ({ questions }, { journal, asked, wakesAt }) => ({
      ...journal,
      questions: addQuestions(questions, asked),
      status: 'input_required',
      isRunning: false,
      losses: 0,
      wakesAt
    })
  }),
  row({
    from: ['running'],
    on: 'suspended',
    when: 'it sleeps',
    to: 'waiting',
    change: ({ questions }, { journal, wakesAt = 0 }) => (
      { ...journal, questions: addQuestions(questions, NO_QUESTIONS), isRunning: false, losses: 0, wakesAt }
    )
  }),
  row({
    from: ['running'],
    on: 'deferred',
    to: 'waiting',
    change: (_, { journal, inMs }, now) => ({ ...journal, isRunning: false, wakesAt: now + inMs })
  }),
  row({
    from: ['running'],
    on: 'stopped',
    when: 'its handler may run again',
    to: 'waiting',
    holds: ({ mayRerun }) => mayRerun,
    change: (_, { journal }, now) => ({ ...journal, isRunning: false, wakesAt: now })
  }),
  row({
    from: ['running'],
    on: 'stopped',
    when: 'its handler must not run again',
    to: 'over',
    change: (record, { journal }) => (
      { ...journal, ...fail(record, taskInterrupted('The replica was stopped')) }
    )
  }),
  row({
    from: ['running'],
    on: 'expired',
    to: 'over',
    change: (record, { journal }) => ({ ...journal, ...fail(record, taskExpired(record.ttlMs)) })
  }),
  row({
    from: ['running'],
    on: 'completed',
    to: 'over',
    change: (record, { journal, result }) => (
      { ...journal, ...end(record, { status: 'completed', statusMessage: undefined, result }) }
    )
  }),
  row({
    from: ['running'],
    on: 'failed',
    to: 'over',
    change: (record, { journal, error }) => ({ ...journal, ...fail(record, error) })
  })
]

const NO_QUESTIONS: ReadonlyMap<string, string> = new Map()

function row<const E extends EventType> (one: Row<E>): TransitionRow { return one }

/** Begins the next run. The sleeps that were due are over, whatever the clock of this replica says. */
function claim ({ run, mayRerun, sleeps, wakesAt = 0 }: TaskRecord): Partial<TaskRecord> {
  const ends = Object.entries(sleeps).map(([index, endsAt]) => [index, endsAt <= wakesAt ? 0 : endsAt])
  return {
    status: 'working',
    run: run + 1,
    isRunning: true,
    // A handler that may run again needs no write before its call.
    isCalled: mayRerun,
    wakesAt: undefined,
    sleeps: Object.fromEntries(ends)
  }
}

/** The new number refuses all later writes of the run. */
function end ({ run }: TaskRecord, change: Partial<TaskRecord>): Partial<TaskRecord> {
  return { run: run + 1, isRunning: false, wakesAt: undefined, ...change }
}

function fail (record: TaskRecord, { code, message, data }: ProtocolError): Partial<TaskRecord> {
  return end(record, {
    status: 'failed', statusMessage: message, error: JSON.stringify({ code, message, data })
  })
}

/** A new step shows that the task does not end its replica at the same place again. */
function countLosses ({ results, losses }: TaskRecord, journal: JournalMembers): Partial<TaskRecord> {
  return { losses: Object.keys(journal.results).length > Object.keys(results).length ? 0 : losses }
}

/** Compares what handlers and `authorize` see of a caller. Each token has its own times and id. */
function hasSameRights (one: KeptPrincipal, other: KeptPrincipal): boolean {
  return isSameSet(one.scopes, other.scopes) && claimsOf(one) === claimsOf(other)
}

function claimsOf ({ claims = {} }: KeptPrincipal): string {
  const { iat, exp, nbf, jti, ...rest } = claims
  return JSON.stringify(rest)
}

function isSameSet (one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((member) => other.includes(member))
}
