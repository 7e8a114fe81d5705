// A handler that fails because the store cannot be reached has no outcome: it runs again, if it may.

import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { openWorld, question, type Script } from './replicas.ts'

const MINUTE = 60_000

/** Fails until the given number of runs have failed. Notes what it does. */
function toFailing (failures: number, notes: string[], isAsking = false): Script {
  let runs = 0
  return async (round) => {
    await round.once('one', () => { notes.push('one') })
    if (isAsking) await round.ask({ go: question })
    notes.push(`run ${++runs}`)
    if (runs <= failures) throw new StoreUnavailable(new Error('away'))
    return 'done'
  }
}

t.test('the first run and later ones run again after an outage, and repeat no ended step', async (t) => {
  const time = new VirtualTime(t)
  for (const isAsking of [false, true]) {
    const notes: string[] = []
    const { call, ask, tasks: { operator } } = openWorld(
      toFailing(2, notes, isAsking), { isRequired: true }
    ).openReplica('only')
    const taskId = await time.during(call(), MINUTE)
    if (isAsking) {
      const inputResponses = { go: { action: 'accept', content: {} } }
      await time.during(ask('tasks/update', { taskId, inputResponses }), MINUTE)
    }
    await time.during(timers.pause(1000), MINUTE)
    t.match(await operator.show(taskId), {
      status: 'working', phase: 'waiting', waitsFor: 'outage', wakesAt: /Z$/, losses: 0
    })
    await time.during(timers.pause(MINUTE), 2 * MINUTE)
    t.match(await ask('tasks/get', { taskId }), { status: 'completed', result: 'done' })
    t.strictSame(notes, ['one', 'run 1', 'run 2', 'run 3'])
  }
})

t.test('an operator lets a task run before its pause is over', async (t) => {
  const time = new VirtualTime(t)
  const notes: string[] = []
  const { call, tasks: { operator } } = openWorld(
    toFailing(1, notes), { isRequired: true }
  ).openReplica('only')
  const taskId = await time.during(call(), MINUTE)
  await time.during(timers.pause(500), MINUTE)
  t.match(await time.during(operator.retry(taskId), MINUTE), { outcome: 'done' })
  await time.during(timers.pause(1000), MINUTE)
  t.match(await operator.show(taskId), { status: 'completed', runs: 2 })
})

t.test('a task ends with its time limit, however long the outage is', async (t) => {
  const time = new VirtualTime(t)
  const { call, ask } = openWorld(
    toFailing(Infinity, []), { isRequired: true, ttlMs: MINUTE }
  ).openReplica('only')
  const taskId = await time.during(call(), MINUTE)
  await time.during(timers.pause(2 * MINUTE), 3 * MINUTE)
  t.match(await ask('tasks/get', { taskId }), { status: 'failed', error: { message: /60000 ms|minute|time/ } })
})

t.test('a task whose handler must not run again fails, and so does one with another error', async (t) => {
  const time = new VirtualTime(t)
  const notes: string[] = []
  const once = openWorld(toFailing(1, notes), { isRequired: true, mayRerun: false }).openReplica('only')
  const other = openWorld(async () => { throw new Error('x') }, { isRequired: true }).openReplica('only')
  for (const [{ call, ask }, message] of [[once, /^State cannot be reached/], [other, /^Internal/]] as const) {
    const taskId = await time.during(call(), MINUTE)
    await time.during(timers.pause(MINUTE), 2 * MINUTE)
    t.match(await ask('tasks/get', { taskId }), { status: 'failed', error: { message } })
  }
  t.strictSame(notes, ['one', 'run 1'])
})

t.test('a call whose creation is in doubt is answered directly only if nobody else can run it', async (t) => {
  const time = new VirtualTime(t)
  for (const mayRerun of [true, false]) {
    let runs = 0
    const world = openWorld(async () => {
      runs++
      await timers.pause(5000)
      return 'done'
    }, { mayRerun })
    let isAway = true
    const { create } = world.store
    world.store.create = async (...args) => {
      const created = await create(...args)
      if (isAway) throw new StoreUnavailable(new Error('the reply was lost'))
      return created
    }
    const answer = world.openReplica('first').call()
    world.openReplica('second')
    if (mayRerun) await time.during(t.rejects(answer, StoreUnavailable), MINUTE)
    else t.equal(await time.during(answer, MINUTE), '"done"')
    isAway = false
    await time.during(timers.pause(10 * MINUTE), 11 * MINUTE)
    t.equal(runs, 1, 'and then nobody does')
  }
})

t.test('an undo runs again after an outage, whatever its handler may', async (t) => {
  const time = new VirtualTime(t)
  const notes: string[] = []
  const { call, tasks: { operator } } = openWorld(async (round) => {
    await round.once('order', () => '')
    throw new Error('x')
  }, { isRequired: true, mayRerun: false, undo: toFailing(1, notes) }).openReplica('only')
  const taskId = await time.during(call(), MINUTE)
  await time.during(timers.pause(MINUTE), 2 * MINUTE)
  t.match(await operator.show(taskId), { status: 'failed', undo: 'done' })
  t.strictSame(notes, ['one', 'run 1', 'run 2'])
})
