// The table of transitions: each row, and what holds for all of them.

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { ProtocolError } from '../../src/protocol/errors.ts'
import type { JournalMembers, TaskEvent } from '../../src/tasks/events.ts'
import { phaseOf, type TaskRecord } from '../../src/tasks/record.ts'
import { findTransition, type Transition } from '../../src/tasks/states.ts'
import { MAX_LOSSES, TRANSITIONS } from '../../src/tasks/transition-table.ts'

const NOW = 1_800_000_000_000
const TTL_MS = 3_600_000
const END = NOW + TTL_MS

const RUNNING: TaskRecord = {
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
  generation: 4,
  mark: 'm',
  status: 'working',
  updatedAt: NOW,
  run: 3,
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
const AWAKE = NOW + 60_000
const WAITING: TaskRecord = { ...RUNNING, isRunning: false, wakesAt: AWAKE, sleeps: { 0: AWAKE } }
const OPEN = { json: '{}', isAnswered: false }
const ASKING: TaskRecord = {
  ...RUNNING,
  isRunning: false,
  status: 'input_required',
  questions: { who: { key: 'who', ...OPEN }, why: { key: 'why', ...OPEN } }
}
const OVER: TaskRecord = { ...RUNNING, isRunning: false, status: 'cancelled' }

const principal = { subject: 'ada', scopes: ['books', 'more'] }
const JOURNAL: JournalMembers = {
  answers: {}, results: { one: '[1]' }, sleeps: {}, order: [], statusMessage: 'busy'
}
const TWO = { one: '[1]', two: '[2]' }
const ASKED = new Map([['who', '{}']])
const due = (isHere = false): TaskEvent => ({ type: 'due', isHere })
const answered = (responses: object, mayRun = true): TaskEvent => (
  { type: 'answered', responses: { ...responses }, principal, mayRun }
)
const NO_QUESTIONS = new Map<string, string>()

interface Case {
  readonly row: string
  readonly record: TaskRecord
  readonly event: TaskEvent
  readonly at?: number
  readonly gives: Partial<Omit<Transition, 'record'>> & { readonly record?: Partial<TaskRecord> | undefined }
}

const taken = { due: 'lease', isHeld: true, isClaimed: true } as const
const ended = { due: 'never', isTold: true, isClaimed: false } as const

const CASES: readonly Case[] = [
  { row: 'over due → over', record: OVER, event: due(), gives: { record: undefined, due: 'never' } },
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
    gives: { ...taken, isTold: false, record: { run: 4, losses: 1, isRunning: true, isCalled: false } }
  },
  {
    row: 'running due → waiting: its replica was lost again',
    record: { ...RUNNING, losses: 2 },
    event: due(),
    gives: { due: NOW + 5000, isHeld: false, record: { isRunning: false, losses: 3, wakesAt: NOW + 5000 } }
  },
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
    row: 'running suspended → asking: it asks',
    record: { ...RUNNING, losses: 3 },
    event: { type: 'suspended', run: 3, journal: JOURNAL, asked: ASKED, wakesAt: undefined },
    gives: { due: END, isHeld: false, isTold: true, record: { status: 'input_required', losses: 0 } }
  },
  {
    row: 'running suspended → waiting: it sleeps',
    record: RUNNING,
    event: { type: 'suspended', run: 3, journal: JOURNAL, asked: NO_QUESTIONS, wakesAt: NOW + 9000 },
    gives: { due: NOW + 9000, isHeld: false, isTold: false, record: { wakesAt: NOW + 9000 } }
  },
  {
    row: 'running deferred → waiting',
    record: RUNNING,
    event: { type: 'deferred', run: 3, journal: JOURNAL, inMs: 2000 },
    gives: { due: NOW + 2000, record: { isRunning: false, wakesAt: NOW + 2000 } }
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
    event: { type: 'completed', run: 3, journal: JOURNAL, result: '"x"' },
    gives: { ...ended, record: { status: 'completed', result: '"x"', statusMessage: undefined } }
  },
  {
    row: 'running failed → over',
    record: RUNNING,
    event: { type: 'failed', run: 3, journal: JOURNAL, error: new ProtocolError(-32603, 'No.') },
    gives: { ...ended, record: { statusMessage: 'No.', error: '{"code":-32603,"message":"No."}' } }
  }
]

/** Names each transition of the table. */
const NAMES = TRANSITIONS.flatMap(({ from, on, to, when }) => from.map(
  (phase) => `${phase} ${on} → ${to}${when === undefined ? '' : `: ${when}`}`
))

t.test('every transition has a case, and every case a transition', (t) => {
  t.strictSame(CASES.map(({ row }) => row).toSorted(), NAMES.toSorted())
  t.equal(new Set(NAMES).size, NAMES.length, 'no two are the same')
  t.end()
})

for (const { row, record, event, at = NOW, gives } of CASES) {
  t.test(row, (t) => {
    const transition = findTransition(record, event, at)
    const [from, , , to] = row.replace(/:.*/, '').split(' ')
    t.equal(phaseOf(record), from)
    t.equal(transition === undefined ? undefined : phaseOf(transition.record ?? record), to)
    const { record: expected, ...rest } = gives
    t.match(transition, rest)
    if ('record' in gives && expected === undefined) t.equal(transition?.record, undefined)
    for (const [key, value] of Object.entries(expected ?? {})) {
      t.strictSame(transition?.record?.[key as never], value, key)
    }
    t.end()
  })
}

t.test('what a run says after another one began changes nothing', (t) => {
  for (const { record, event } of CASES) {
    if ('run' in event) t.equal(findTransition({ ...record, run: 4 }, event, NOW), undefined, event.type)
  }
  t.end()
})

t.test('from any state, by any event', (t) => {
  for (const { record } of CASES) {
    for (const { event } of CASES) {
      for (const at of [NOW, NOW + 60_000, END]) {
        const transition = findTransition(record, event, at)
        if (transition === undefined) continue
        const name = `${phaseOf(record)} ${event.type} ${at - NOW}`
        const next = transition.record ?? record
        const { due } = transition
        if (phaseOf(next) === 'running' && typeof due === 'number') t.fail(`${name}: due beyond a lease`)
        if (phaseOf(record) === 'over' && next !== record) t.fail(`${name}: an end was changed`)
        if (transition.isClaimed && !transition.isHeld) t.fail(`${name}: claimed before it is due again`)
        if (phaseOf(next) === 'waiting' && next.wakesAt === undefined) t.fail(`${name}: it never wakes`)
        if (phaseOf(next) !== phaseOf(record) && due === undefined) t.fail(`${name}: its due time stays`)
        if (next.run < record.run) t.fail(`${name}: an earlier run`)
      }
    }
  }
  t.pass('every rule holds')
  t.end()
})

t.test('the picture in the documentation is that of the table', async (t) => {
  const page = await readFile(new URL('../../docs/long-work.md', import.meta.url), 'utf8')
  const [, picture] = /```mermaid\n([^`]*)```/.exec(page) ?? []
  t.equal(picture, toPicture())
})

function toPicture (): string {
  const changes = TRANSITIONS.filter(({ from: [phase] }) => phase !== 'over')
  const rows = changes.flatMap(({ from, on, to, when }) => from.map(
    (phase) => `  ${phase} --> ${to === 'over' ? '[*]' : to} : ${on}${when === undefined ? '' : `, ${when}`}`
  ))
  return ['stateDiagram-v2', '  [*] --> running : the call becomes a task', ...rows, ''].join('\n')
}
