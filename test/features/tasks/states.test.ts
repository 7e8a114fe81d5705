// The table of transitions: each row, and what holds for all of them.

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { isTerminal } from '../../../src/platform/protocol/tasks.ts'
import type { TaskEvent } from '../../../src/features/tasks/machine/events.ts'
import { endOf, openQuestions, phaseOf } from '../../../src/features/tasks/records/record.ts'
import { formOf } from '../../../src/features/tasks/records/task-bytes.ts'
import { findTransition } from '../../../src/features/tasks/machine/states.ts'
import { TRANSITIONS } from '../../../src/features/tasks/machine/transition-table.ts'
import {
  ASKING, AWAKE, CASES, END, EXPIRED, JOURNAL, NOW, OUTDATED, OVER, RUNNING, UNDONE, WAITING
} from './transition-cases.ts'

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

t.test('a task whose tool has changed is not taken at once, and sleeps for its time', (t) => {
  const lost = findTransition(RUNNING, OUTDATED, NOW)
  t.match(lost, { isClaimed: false, due: NOW, record: { isRunning: false, losses: 1, wakesAt: NOW } })
  t.match(findTransition(WAITING, OUTDATED, NOW), { due: AWAKE, record: { status: 'working' } })
  t.equal(findTransition(RUNNING, { ...OUTDATED, isHere: true } as TaskEvent, NOW)?.record, undefined)
  t.end()
})

t.test('a run that does not know that it was written says again that it begins', (t) => {
  const transition = findTransition({ ...RUNNING, isCalled: true }, { type: 'called', run: 3 }, NOW)
  t.match(transition?.record, { isCalled: true })
  t.end()
})

t.test('only a run raises the form of a record', (t) => {
  for (const { row, record, event, at = NOW } of CASES) {
    const next = findTransition({ ...record, form: 1 }, event, at)
    if (next?.record !== undefined) t.equal(next.record.form, next.isClaimed ? formOf(record) : 1, row)
  }
  t.end()
})

t.test('what a run says after another one began changes nothing', (t) => {
  for (const { record, event } of CASES) {
    if ('run' in event) t.equal(findTransition({ ...record, run: 4 }, event, NOW), undefined, event.type)
  }
  t.end()
})

t.test('a run says when it began, also that of an undo: clients see no change of its task then', (t) => {
  for (const { row, record, event, at = NOW } of CASES) {
    const next = findTransition(record, event, at)
    t.equal(next?.record?.claimedAt, next?.isClaimed === true ? at : record.claimedAt, row)
  }
  t.end()
})

t.test('an operator wakes no sleeping task, and changes none that runs, asks or has ended', (t) => {
  for (const record of [WAITING, RUNNING, ASKING, { ...ASKING, wakesAt: NOW }, OVER, UNDONE]) {
    t.equal(findTransition(record, { type: 'retried' }, NOW), undefined, phaseOf(record))
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
        if (next.isRunning && typeof due === 'number') t.fail(`${name}: due beyond a lease`)
        if (phaseOf(record) === 'over' && [undefined, 'done'].includes(record.undo) && next !== record) {
          t.fail(`${name}: an end was changed`)
        }
        for (const member of ['status', 'statusMessage', 'error', 'result', 'updatedAt'] as const) {
          if (isTerminal(record.status) && next[member] !== record[member]) t.fail(`${name}: ${member} changed`)
        }
        if (next.undo === 'due' && typeof due === 'number' && due >= endOf(next)) t.fail(`${name}: its work is never undone`)
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

t.test('a task that has ended without success is to be undone, and no other', (t) => {
  const cases = CASES.filter(({ record: { status } }) => !isTerminal(status))
  for (const { row, record, event, at = NOW } of cases) {
    const mayUndo = { ...record, mayUndo: true }
    const transition = findTransition(mayUndo, event, at)
    const next = transition?.record
    if (next === undefined || !isTerminal(next.status)) continue
    t.equal(next.undo, event.type === 'completed' && !event.isError ? undefined : 'due', row)
    // The replica that runs the handler of a cancelled task has a lease to learn of it.
    const waits = next.status === 'cancelled' && record.isRunning
    t.equal(transition?.due, next.undo === undefined ? EXPIRED : waits ? 'lease' : 0, row)
  }
  t.end()
})

t.test('no event of a run drops an answer that came while it ran', (t) => {
  for (const { row, record, event } of CASES) {
    if (phaseOf(record) !== 'running' || !('journal' in event)) continue
    const next = findTransition({ ...record, answers: { late: '1' } }, event, NOW)?.record
    t.strictSame(next?.answers, { late: '1' }, row)
  }
  t.end()
})

t.test('a run asks only what is unanswered, and again what its handler has refused', (t) => {
  const asked = new Map([['who', '{"new":1}'], ['why', '{}']])
  const record = {
    ...RUNNING,
    answers: { who: '1' },
    questions: {
      who: { key: 'who', json: '{}', isAnswered: true }, why: { key: 'why', json: '{}', isAnswered: false }
    }
  }
  const suspended = { type: 'suspended', run: 3, journal: JOURNAL, asked, wakesAt: undefined } as const
  const came = findTransition(record, { ...suspended, unfit: new Set() }, NOW)?.record
  t.strictSame(came && openQuestions(came).map(([name]) => name), ['why'])
  t.strictSame(came?.answers, { who: '1' })
  const refused = findTransition(record, { ...suspended, unfit: new Set(['who']) }, NOW)?.record
  t.strictSame(refused && openQuestions(refused).map(([name]) => name), ['why', 'who (2)'])
  t.strictSame(refused?.answers, {})
  t.end()
})

t.test('a run of an earlier release takes no answers: it would drop them', (t) => {
  const { principal } = RUNNING
  const event = { type: 'answered', responses: { who: 1 }, principal, mayRun: true } as const
  for (const mergingRun of [undefined, 2]) {
    const record = { ...RUNNING, questions: ASKING.questions, mergingRun }
    t.equal(findTransition(record, event, NOW), undefined)
  }
  t.end()
})

t.test('the picture in the documentation is that of the table', async (t) => {
  const page = await readFile(new URL('../../../docs/long-work.md', import.meta.url), 'utf8')
  const [, picture] = /```mermaid\n([^`]*)```/.exec(page) ?? []
  t.equal(picture, toPicture())
})

function toPicture (): string {
  const changes = TRANSITIONS.filter(({ from, to }) => from.join() !== 'over' || to !== 'over')
  const rows = changes.flatMap(({ from, on, to, when }) => from.map(
    (phase) => `  ${phase} --> ${to} : ${on}${when === undefined ? '' : `, ${when}`}`
  ))
  return [
    'stateDiagram-v2', '  [*] --> running : the call becomes a task', ...rows, '  over --> [*]', ''
  ].join('\n')
}
