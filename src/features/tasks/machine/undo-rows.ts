// The transitions of an ended task whose work is undone. Its status never changes.

import type { JournalMembers } from './events.ts'
import { endOfRun, type JournalRecord, type TaskRecord } from '../records/record.ts'
import { formOf } from '../records/task-bytes.ts'
import { toRetried } from '../journal/retried-journal.ts'
import {
  EARLY_MS, endSleeps, LOSS_PAUSES_MS, MAX_LOSSES, reclaim, row, type TransitionRow
} from './transition-row.ts'

const NO_JOURNAL: JournalRecord = { answers: {}, results: {}, sleeps: {}, order: [] }

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
  row({
    from: ['undoing'],
    on: 'due',
    when: 'undo runs here',
    to: 'undoing',
    holds: (_, { isHere }) => isHere
  }),
  row({
    from: ['undoing'],
    on: 'due',
    when: 'the replica of its undo was lost too often',
    to: 'over',
    holds: ({ losses }) => losses + 1 >= MAX_LOSSES,
    change: giveUp
  }),
  row({
    from: ['undoing'],
    on: 'due',
    when: 'the replica of its undo was lost',
    to: 'over',
    change: ({ losses }, _, now) => ({
      isRunning: false, losses: losses + 1, pause: 'loss', wakesAt: now + (LOSS_PAUSES_MS[losses] ?? 0)
    })
  }),
  row({
    from: ['undoing'],
    on: 'kept',
    to: 'undoing',
    isQuiet: true,
    change: ({ undoJournal = NO_JOURNAL, losses, ...record }, { journal, upstreamTokens }) => {
      const hasNewStep = Object.keys(journal.results).length > Object.keys(undoJournal.results).length
      return {
        ...toJournal(journal),
        losses: hasNewStep ? 0 : losses,
        upstreamTokens: upstreamTokens ?? record.upstreamTokens
      }
    }
  }),
  row({ from: ['undoing'], on: 'reclaimed', to: 'undoing', change: reclaim }),
  row({
    from: ['undoing'],
    on: 'suspended',
    when: 'its undo sleeps',
    to: 'over',
    change: (_, { journal, wakesAt = 0 }) => ({ ...toJournal(journal), isRunning: false, losses: 0, wakesAt })
  }),
  row({
    from: ['undoing'],
    on: 'deferred',
    to: 'over',
    change: (_, { journal, inMs, pause }, now) => ({
      ...toJournal(journal), isRunning: false, pause, wakesAt: now + inMs
    })
  }),
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
function claim ({ relayed, run, undoJournal = NO_JOURNAL, wakesAt }: TaskRecord): Partial<TaskRecord> {
  return {
    form: formOf({ relayed }),
    run: run + 1,
    isRunning: true,
    isCalled: true,
    wakesAt: undefined,
    pause: undefined,
    undoJournal: { ...undoJournal, sleeps: endSleeps(undoJournal.sleeps, wakesAt) }
  }
}

function giveUp ({ run }: TaskRecord): Partial<TaskRecord> {
  return { run: run + 1, undo: 'failed', isRunning: false, wakesAt: undefined }
}

function toJournal ({ answers, results, sleeps, order }: JournalMembers): Partial<TaskRecord> {
  return { undoJournal: { answers, results, sleeps, order } }
}
