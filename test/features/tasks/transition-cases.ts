// A case for each transition of the table.

import { ProtocolError } from '../../../src/platform/protocol/errors.ts'
import type { JournalMembers, TaskEvent } from '../../../src/features/tasks/machine/events.ts'
import type { TaskRecord } from '../../../src/features/tasks/records/record.ts'
import { FORM } from '../../../src/features/tasks/records/task-bytes.ts'
import type { Transition } from '../../../src/features/tasks/machine/states.ts'
import { MAX_LOSSES } from '../../../src/features/tasks/machine/transition-row.ts'

export const NOW = 1_800_000_000_000
const TTL_MS = 3_600_000
export const END = NOW + TTL_MS

export const RUNNING: TaskRecord = {
  tool: 'print_book',
  toolScopes: [],
  args: {},
  principal: { subject: 'ada', scopes: ['books'] },
  client: { revision: '2026-07-28', capabilities: {} },
  requestId: 'r-1',
  createdAt: NOW,
  ttlMs: TTL_MS,
  keepResultMs: 60_000,
  mayRerun: true,
  mayUndo: false,
  form: FORM,
  generation: 4,
  mark: 'm',
  status: 'working',
  updatedAt: NOW,
  run: 3,
  mergingRun: 3,
  isRunning: true,
  isCalled: true,
  losses: 0,
  questions: {},
  answers: {},
  results: { one: '[1]' },
  sleeps: {},
  order: []
}
const ONCE: TaskRecord = { ...RUNNING, mayRerun: false }
export const AWAKE = NOW + 60_000
export const WAITING: TaskRecord = { ...RUNNING, isRunning: false, wakesAt: AWAKE, sleeps: { 0: AWAKE } }
const OPEN = { json: '{}', isAnswered: false }
export const ASKING: TaskRecord = {
  ...RUNNING,
  isRunning: false,
  status: 'input_required',
  questions: { who: { key: 'who', ...OPEN }, why: { key: 'why', ...OPEN } }
}
export const OVER: TaskRecord = { ...RUNNING, isRunning: false, status: 'cancelled' }
const END_OF_UNDO = END + 30_000
const TO_UNDO: TaskRecord = { ...OVER, mayUndo: true, undo: 'due', wakesAt: 0 }
export const UNDONE: TaskRecord = { ...OVER, mayUndo: true, undo: 'done' }
const UNDOING: TaskRecord = { ...TO_UNDO, isRunning: true, wakesAt: undefined }

const principal = { subject: 'ada', scopes: ['books', 'more'] }
export const JOURNAL: JournalMembers = {
  answers: {}, results: { one: '[1]' }, sleeps: {}, order: [], statusMessage: 'busy'
}
const EMPTY = { answers: {}, results: {}, sleeps: {}, order: [] }
const TWO = { one: '[1]', two: '[2]' }
const ASKED = new Map([['who', '{}']])
const due = (isHere = false): TaskEvent => ({ type: 'due', run: 3, isHere, isOutdated: false })
export const OUTDATED: TaskEvent = { type: 'due', run: 3, isHere: false, isOutdated: true }
const answered = (responses: object, mayRun = true): TaskEvent => (
  { type: 'answered', responses: { ...responses }, principal, mayRun }
)
const NONE = new Set<string>()
const NO_QUESTIONS = new Map<string, string>()

interface Case {
  readonly row: string
  readonly record: TaskRecord
  readonly event: TaskEvent
  readonly at?: number
  readonly gives: Partial<Omit<Transition, 'record'>> & { readonly record?: Partial<TaskRecord> | undefined }
}

const taken = { due: 'lease', isHeld: true, isClaimed: true } as const
export const EXPIRED = END + 60_000 + 60_000
const ended = { due: EXPIRED, isTold: true, isClaimed: false } as const

export const CASES: readonly Case[] = [
  {
    row: 'over due → over: nothing is to be undone',
    record: OVER,
    event: due(),
    gives: { record: undefined, due: EXPIRED, isHeld: false, isTold: true }
  },
  {
    row: 'running due → over: its time limit has passed',
    record: RUNNING,
    event: due(),
    at: END,
    gives: { ...ended, record: { status: 'failed', isRunning: false, run: 4 } }
  },
  {
    row: 'waiting due → over: its time limit has passed',
    record: WAITING,
    event: due(),
    at: END,
    gives: { ...ended, record: { status: 'failed', wakesAt: undefined } }
  },
  {
    row: 'asking due → over: its time limit has passed',
    record: ASKING,
    event: due(),
    at: END,
    gives: { ...ended, record: { status: 'failed' } }
  },
  {
    row: 'running due → running: it runs here',
    record: RUNNING,
    event: due(true),
    gives: { record: undefined, due: 'lease', isClaimed: false }
  },
  {
    row: 'running due → over: its handler was called and must not run again',
    record: ONCE,
    event: due(),
    gives: { ...ended, record: { status: 'failed' } }
  },
  {
    row: 'running due → over: its replica was lost too often',
    record: { ...RUNNING, losses: MAX_LOSSES - 1 },
    event: due(),
    gives: { ...ended, record: { status: 'failed' } }
  },
  {
    row: 'running due → running: its replica was lost once',
    record: { ...ONCE, isCalled: false },
    event: due(),
    gives: { ...taken, isTold: true, record: { run: 4, losses: 1, isRunning: true, isCalled: false } }
  },
  {
    row: 'running due → waiting: its replica was lost again, or its tool has changed',
    record: { ...RUNNING, losses: 2 },
    event: due(),
    gives: {
      due: NOW + 5000,
      isHeld: false,
      record: { isRunning: false, losses: 3, pause: 'loss', wakesAt: NOW + 5000 }
    }
  },
  ...([['waiting', WAITING], ['asking', { ...ASKING, wakesAt: AWAKE }]] as const).map(([phase, record]) => ({
    row: `${phase} due → over: its tool has changed, and must not go on`,
    record,
    event: OUTDATED,
    at: AWAKE,
    gives: { ...ended, record: { status: 'failed', run: 4, wakesAt: undefined } as const }
  })),
  {
    row: 'waiting due → running: its sleep is over',
    record: { ...WAITING, mayRerun: false },
    event: due(),
    at: NOW + 60_000,
    gives: { ...taken, record: { run: 4, isCalled: false, wakesAt: undefined, sleeps: { 0: 0 } } }
  },
  {
    row: 'asking due → running: its sleep is over',
    record: { ...ASKING, wakesAt: NOW },
    event: due(),
    gives: { ...taken, isTold: true, record: { status: 'working' } }
  },
  {
    row: 'waiting due → waiting: it sleeps',
    record: WAITING,
    event: due(),
    gives: { record: {}, due: AWAKE }
  },
  {
    row: 'asking due → asking: no answer came',
    record: ASKING,
    event: due(),
    gives: { record: {}, due: END }
  },
  {
    row: 'running answered → running: its question is open',
    record: { ...RUNNING, questions: ASKING.questions },
    event: answered({ who: 1 }),
    gives: {
      due: undefined, isTold: false, record: { answers: { who: '1' }, principal, run: 3, isRunning: true }
    }
  },
  {
    row: 'waiting answered → waiting: its question is open',
    record: { ...WAITING, questions: ASKING.questions },
    event: answered({ why: 1 }, false),
    gives: { due: undefined, isTold: false, record: { answers: { why: '1' }, principal, wakesAt: AWAKE } }
  },
  {
    row: 'asking answered → asking: nothing is answered',
    record: ASKING,
    event: answered({ what: 1 }),
    gives: { record: undefined, due: undefined }
  },
  {
    row: 'asking answered → asking: questions are left',
    record: ASKING,
    event: answered({ who: 1 }),
    gives: { due: undefined, record: { answers: { who: '1' }, principal, status: 'input_required' } }
  },
  {
    row: 'asking answered → running: this replica can run it',
    record: ASKING,
    event: answered({ who: 1, why: 2 }),
    gives: { ...taken, isTold: true, record: { answers: { who: '1', why: '2' }, principal, isRunning: true } }
  },
  {
    row: 'asking answered → waiting: another replica must run it',
    record: ASKING,
    event: answered({ who: 1, why: 2 }, false),
    gives: { due: NOW, isHeld: true, isTold: true, record: { status: 'working', wakesAt: NOW, principal } }
  },
  {
    row: 'asking unattended → asking: its client was asked',
    record: ASKING,
    event: { type: 'unattended' },
    gives: {
      due: END, isHeld: false, isTold: false, record: { client: { ...ASKING.client, isUnattended: true } }
    }
  },
  ...([['running', RUNNING], ['waiting', WAITING], ['asking', ASKING]] as const).map(([phase, record]) => ({
    row: `${phase} accessed → ${phase}: with other rights than before`,
    record,
    event: { type: 'accessed', principal } as const,
    gives: { due: undefined, isTold: false, record: { principal } }
  })),
  ...([['running', RUNNING], ['waiting', WAITING], ['asking', ASKING]] as const).map(([phase, record]) => ({
    row: `${phase} cancelled → over`,
    record,
    event: { type: 'cancelled' } as const,
    gives: { ...ended, record: { status: 'cancelled', run: 4, isRunning: false } as const }
  })),
  {
    row: 'waiting retried → waiting: it does not sleep',
    record: { ...WAITING, pause: 'loss', losses: 3 },
    event: { type: 'retried' },
    gives: { due: NOW, isHeld: true, isTold: false, record: { losses: 0, pause: undefined, wakesAt: NOW } }
  },
  {
    row: 'running called → running: its handler must not run again',
    record: { ...ONCE, isCalled: false },
    event: { type: 'called', run: 3 },
    gives: { due: undefined, record: { isCalled: true } }
  },
  {
    row: 'running kept → running',
    record: { ...RUNNING, losses: 3 },
    event: { type: 'kept', run: 3, journal: { ...JOURNAL, results: TWO } },
    gives: { due: undefined, record: { losses: 0, statusMessage: 'busy', results: TWO } }
  },
  {
    row: 'running reclaimed → running',
    record: RUNNING,
    event: { type: 'reclaimed', run: 3 },
    gives: { due: 'lease', isHeld: true, isTold: false, record: { run: 4, isRunning: true } }
  },
  {
    row: 'running suspended → waiting: its questions were answered meanwhile',
    record: { ...RUNNING, losses: 3, answers: { who: '1' } },
    event: { type: 'suspended', run: 3, journal: JOURNAL, asked: ASKED, unfit: NONE, wakesAt: AWAKE },
    gives: {
      due: NOW,
      isHeld: false,
      record: { status: 'working', isRunning: false, losses: 0, wakesAt: NOW, answers: { who: '1' } }
    }
  },
  {
    row: 'running suspended → asking: it asks',
    record: { ...RUNNING, losses: 3 },
    event: { type: 'suspended', run: 3, journal: JOURNAL, asked: ASKED, unfit: NONE, wakesAt: undefined },
    gives: { due: END, isHeld: false, isTold: true, record: { status: 'input_required', losses: 0 } }
  },
  {
    row: 'running suspended → waiting: it sleeps',
    record: RUNNING,
    event: {
      type: 'suspended', run: 3, journal: JOURNAL, asked: NO_QUESTIONS, unfit: NONE, wakesAt: NOW + 9000
    },
    gives: { due: NOW + 9000, isHeld: false, isTold: false, record: { wakesAt: NOW + 9000 } }
  },
  {
    row: 'running deferred → waiting',
    record: RUNNING,
    event: { type: 'deferred', run: 3, journal: JOURNAL, inMs: 2000, pause: 'limit' },
    gives: { due: NOW + 2000, record: { isRunning: false, pause: 'limit', wakesAt: NOW + 2000 } }
  },
  {
    row: 'running stopped → waiting: its handler may run again',
    record: RUNNING,
    event: { type: 'stopped', run: 3, journal: JOURNAL },
    gives: { due: NOW, record: { isRunning: false, wakesAt: NOW } }
  },
  {
    row: 'running stopped → over: its handler must not run again',
    record: ONCE,
    event: { type: 'stopped', run: 3, journal: JOURNAL },
    gives: { ...ended, record: { status: 'failed' } }
  },
  {
    row: 'running expired → over',
    record: RUNNING,
    event: { type: 'expired', run: 3, journal: JOURNAL },
    gives: { ...ended, record: { status: 'failed' } }
  },
  {
    row: 'running completed → over',
    record: RUNNING,
    event: { type: 'completed', run: 3, journal: JOURNAL, result: '"x"', isError: false },
    gives: { ...ended, record: { status: 'completed', result: '"x"', statusMessage: undefined } }
  },
  {
    row: 'running completed → over: its result is an error',
    record: RUNNING,
    event: { type: 'completed', run: 3, journal: JOURNAL, result: '"x"', isError: true },
    gives: { ...ended, record: { status: 'completed', result: '"x"', undo: undefined } }
  },
  {
    row: 'running failed → over',
    record: RUNNING,
    event: { type: 'failed', run: 3, journal: JOURNAL, error: new ProtocolError(-32603, 'No.') },
    gives: { ...ended, record: { statusMessage: 'No.', error: '{"code":-32603,"message":"No."}' } }
  },
  ...([['over', TO_UNDO], ['undoing', UNDOING]] as const).map(([phase, record]) => ({
    row: `${phase} due → over: the time for undo has passed`,
    record,
    event: due(),
    at: END_OF_UNDO,
    gives: { due: EXPIRED, isTold: true, record: { undo: 'failed', isRunning: false, run: 4 } } as const
  })),
  {
    row: 'over due → undoing: its work is to be undone',
    record: TO_UNDO,
    event: due(),
    gives: { ...taken, isTold: true, record: { run: 4, isRunning: true, undoJournal: EMPTY } }
  },
  {
    row: 'over due → over: its undo sleeps',
    record: { ...TO_UNDO, wakesAt: AWAKE },
    event: due(),
    gives: { record: {}, due: AWAKE, isClaimed: false }
  },
  {
    row: 'undoing due → undoing: its undo runs here',
    record: UNDOING,
    event: due(true),
    gives: { record: undefined, due: 'lease', isClaimed: false }
  },
  {
    row: 'undoing due → over: the replica of its undo was lost too often',
    record: { ...UNDOING, losses: MAX_LOSSES - 1 },
    event: due(),
    gives: { due: EXPIRED, record: { undo: 'failed', run: 4 } }
  },
  {
    row: 'undoing due → over: the replica of its undo was lost',
    record: { ...UNDOING, losses: 1 },
    event: due(),
    gives: { due: NOW + 1000, record: { losses: 2, pause: 'loss', isRunning: false, wakesAt: NOW + 1000 } }
  },
  {
    row: 'undoing kept → undoing',
    record: { ...UNDOING, losses: 2 },
    event: { type: 'kept', run: 3, journal: JOURNAL },
    gives: { due: undefined, record: { losses: 0, undoJournal: { ...EMPTY, results: { one: '[1]' } } } }
  },
  {
    row: 'undoing reclaimed → undoing',
    record: UNDOING,
    event: { type: 'reclaimed', run: 3 },
    gives: { due: 'lease', isHeld: true, isTold: false, record: { run: 4, isRunning: true } }
  },
  {
    row: 'undoing suspended → over: its undo sleeps',
    record: UNDOING,
    event: { type: 'suspended', run: 3, journal: JOURNAL, asked: NO_QUESTIONS, unfit: NONE, wakesAt: AWAKE },
    gives: { due: AWAKE, isTold: false, record: { wakesAt: AWAKE, isRunning: false } }
  },
  {
    row: 'undoing deferred → over',
    record: UNDOING,
    event: { type: 'deferred', run: 3, journal: JOURNAL, inMs: 2000, pause: 'limit' },
    gives: { due: NOW + 2000, record: { isRunning: false, pause: 'limit' } }
  },
  {
    row: 'undoing stopped → over',
    record: UNDOING,
    event: { type: 'stopped', run: 3, journal: JOURNAL },
    gives: { due: NOW, record: { isRunning: false, wakesAt: NOW } }
  },
  {
    row: 'undoing completed → over',
    record: UNDOING,
    event: { type: 'completed', run: 3, journal: JOURNAL, result: '', isError: false },
    gives: { due: EXPIRED, isTold: false, record: { undo: 'done', status: 'cancelled', result: undefined } }
  },
  {
    row: 'undoing failed → over',
    record: UNDOING,
    event: { type: 'failed', run: 3, journal: JOURNAL, error: new ProtocolError(-32603, 'No.') },
    gives: { due: EXPIRED, isTold: false, record: { undo: 'failed', status: 'cancelled', error: undefined } }
  },
  {
    row: 'undoing expired → over',
    record: UNDOING,
    event: { type: 'expired', run: 3, journal: JOURNAL },
    gives: { due: EXPIRED, record: { undo: 'failed', error: undefined } }
  },
  {
    row: 'over retried → over: its work is not undone',
    record: {
      ...TO_UNDO,
      undo: 'failed',
      wakesAt: undefined,
      undoJournal: {
        ...EMPTY,
        results: { one: '{"name":"Error"}', 'one (attempt 2)': '[1]', two: '{"name":"Error"}' },
        order: [{ kind: 'step', key: 'one', group: 1 }]
      }
    },
    event: { type: 'retried' },
    gives: {
      due: NOW,
      isHeld: true,
      isTold: false,
      record: {
        undo: 'due',
        losses: 0,
        wakesAt: NOW,
        undoJournal: { ...EMPTY, results: { one: '{"name":"Error"}', 'one (attempt 2)': '[1]' } }
      }
    }
  }
]
