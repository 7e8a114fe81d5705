// The transitions of an ended task whose work is undone. Its status never changes.

import type { JournalMembers } from './events.ts'
import { endOfRun, type JournalRecord, type TaskRecord } from '../records/record.ts'
import { toRetried } from '../journal/retried-journal.ts'
import { createSharedRows } from './shared-rows.ts'
import { begin, EARLY_MS, endSleeps, MAX_LOSSES, row, type TransitionRow } from './transition-row.ts'

const NO_JOURNAL: JournalRecord = { answers: {}, results: {}, sleeps: {}, order: [] }

const UNDO = createSharedRows({
  phase: 'undoing',
  pausePhase: 'over',
  subject: 'its undo',
  resultsOf: ({ undoJournal = NO_JOURNAL }) => undoJournal.results,
  addJournal: (_, journal) => toJournal(journal)
})

export const UNDO_ROWS: readonly TransitionRow[] = [
  row({
    from: ['over'],
    on: 'due',
    when: 'nothing is to be undone',
    to: 'over',
    holds: ({ undo }) => undo !== 'due'
  }),
  row({
    from: ['over', 'undoing'],
    on: 'due',
    when: 'the time for undo has passed',
    to: 'over',
    holds: (record, _, now) => endOfRun(record) <= now,
    change: giveUp
  }),
  row({
    from: ['over'],
    on: 'due',
    when: 'its work is to be undone',
    to: 'undoing',
    holds: ({ wakesAt = 0 }, _, now) => wakesAt <= now + EARLY_MS,
    change: claim
  }),
  // Written for its generation, as that of a task that sleeps.
  row({ from: ['over'], on: 'due', when: 'its undo sleeps', to: 'over', change: () => ({}) }),
  UNDO.runsHere,
  row({
    from: ['undoing'],
    on: 'due',
    when: 'the replica of its undo was lost too often',
    to: 'over',
    holds: ({ losses }) => losses + 1 >= MAX_LOSSES,
    change: giveUp
  }),
  UNDO.lost('the replica of its undo was lost'),
  UNDO.kept,
  UNDO.reclaimed,
  UNDO.sleeps,
  UNDO.deferred,
  row({
    from: ['undoing'],
    on: 'stopped',
    to: 'over',
    change: (_, { journal }, now) => ({ ...toJournal(journal), isRunning: false, wakesAt: now })
  }),
  row({
    from: ['undoing'],
    on: 'completed',
    to: 'over',
    change: ({ run }, { journal }) => ({
      ...toJournal(journal), run: run + 1, undo: 'done', isRunning: false, wakesAt: undefined
    })
  }),
  ...(['failed', 'expired'] as const).map((on) => row({
    from: ['undoing'],
    on,
    to: 'over',
    change: (record, { journal }) => ({ ...toJournal(journal), ...giveUp(record) })
  })),
  row({
    from: ['over'],
    on: 'retried',
    when: 'its work is not undone',
    to: 'over',
    // Without a pause it waits for the replica that ran the handler, or sleeps.
    holds: ({ undo, pause }) => undo === 'failed' || (undo === 'due' && pause !== undefined),
    change: ({ undoJournal = NO_JOURNAL }, _, now) => ({
      undo: 'due',
      losses: 0,
      pause: undefined,
      wakesAt: now,
      undoJournal: toRetried(undoJournal)
    })
  })
]

/** Begins the next run of `undo`. It may always run again. */
function claim (record: TaskRecord): Partial<TaskRecord> {
  const { undoJournal = NO_JOURNAL, wakesAt } = record
  const sleeps = endSleeps(undoJournal.sleeps, wakesAt)
  return { ...begin(record), isCalled: true, undoJournal: { ...undoJournal, sleeps } }
}

function giveUp ({ run }: TaskRecord): Partial<TaskRecord> {
  return { run: run + 1, undo: 'failed', isRunning: false, wakesAt: undefined }
}

function toJournal ({ answers, results, sleeps, order }: JournalMembers): Partial<TaskRecord> {
  return { undoJournal: { answers, results, sleeps, order } }
}
