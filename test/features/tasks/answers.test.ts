// An answer that was acknowledged is in the record: in whatever phase of the task it comes, at whichever
// replica, and whatever happens to that replica meanwhile.

import t from 'tap'
import { elicit } from '../../../src/platform/author/input-request.ts'
import { timers } from '../../../src/base/time.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { ADA, LEASE_MS, openWorld, type Fault, type TaskState } from './replicas.ts'

type World = ReturnType<typeof openWorld>
type Replica = ReturnType<World['openReplica']>

const WHO = elicit.form({
  message: 'Who?', schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
})
const SLEEP_MS = 60_000
/** How long each run but the first takes before it comes to its question. */
const WORK_MS = 15_000
const MAX_MS = 1_200_000

/** Begins a task that asks beside a sleep, on three replicas. */
async function begin (time: VirtualTime, undo?: (round: InputRound) => Promise<string>) {
  let runs = 0
  const world = openWorld(async (round) => {
    if (++runs > 1) await timers.pause(WORK_MS)
    const [{ go }] = await Promise.all([
      round.ask({ go: WHO }), round.sleep(SLEEP_MS, undefined, timers.pause)
    ])
    return go.action === 'accept' ? String(go.content.name) : go.action
  }, undo && { undo })
  const replicas = ['first', 'second', 'third'].map((name) => world.openReplica(name))
  const [first] = replicas
  if (first === undefined) throw new TypeError('no replica')
  const taskId = await time.during(first.call(), MAX_MS)
  const living = () => replicas.filter(({ isDead }) => !isDead)
  const spare = () => living().find(({ tasks }) => tasks.counts.running === 0) ?? living()[0] as Replica
  const runner = () => living().find(({ tasks }) => tasks.counts.running > 0)
  const phase = async () => {
    const facts = await spare().tasks.operator.show(taskId)
    return facts !== undefined && 'phase' in facts ? facts.phase : undefined
  }
  const reach = async (wanted: string) => {
    for (let look = 0; look < 4000; look++) {
      if (await time.during(phase(), 1000) === wanted) return
      await time.during(timers.pause(500), MAX_MS)
    }
    throw new Error(`the task did not become ${wanted}`)
  }
  const kill = () => {
    const replica = runner()
    replica?.kill()
    return replica
  }
  const end = () => {
    for (const { kill } of replicas) kill()
    time.stopTimers()
  }
  return { world, replicas, taskId, living, spare, runner, reach, kill, end }
}

type Scene = Awaited<ReturnType<typeof begin>>

/** How the task comes into each phase in which its question is open. */
const PHASES: { readonly [phase: string]: (scene: Scene) => Promise<void> } = {
  asking: async ({ reach }) => await reach('asking'),
  running: async ({ reach }) => await reach('running'),
  'running, and its replica is lost': async ({ reach, kill }) => {
    await reach('running')
    kill()
  },
  'waiting after two losses': async ({ world, replicas, reach, kill }) => {
    await reach('running')
    const lost = kill()
    replicas.push(world.openReplica('fourth'))
    const isTaken = async () => {
      for (let look = 0; look < 400; look++) {
        await reach('running')
        if (replicas.some((one) => one !== lost && !one.isDead && one.tasks.counts.running > 0)) return
        await timersPass()
      }
    }
    await isTaken()
    kill()
    await reach('waiting')
  }
}
let timersPass = async (): Promise<void> => {}

const accept = (name: string) => ({ inputResponses: { go: { action: 'accept', content: { name } } } })

/** Follows the task to its end. Resolves to its last state, and to the names of what it asked on the way. */
async function follow (time: VirtualTime, { taskId, living }: Scene) {
  const asked = new Set<string>()
  for (let look = 0; look < 400; look++) {
    const replica = living()[look % living().length]
    const reading = replica?.ask('tasks/get', { taskId }).catch(() => undefined)
    const silence = timers.pause(5000).then(() => undefined)
    const task: TaskState | undefined = await time.during(Promise.race([reading, silence]), MAX_MS)
    for (const name of Object.keys(task?.inputRequests ?? {})) asked.add(name)
    const isOver = task !== undefined && !['working', 'input_required'].includes(task.status)
    if (isOver) return { task, asked: [...asked] }
    await time.during(timers.pause(1000), MAX_MS)
  }
  throw new Error('the task does not end')
}

/** Sends the answer until it is acknowledged, as a client does: first to one replica, then to others. */
async function answer (time: VirtualTime, { taskId, living }: Scene, first: Replica, name: string) {
  for (let attempt = 0; attempt < 20; attempt++) {
    const replica = attempt === 0 ? first : living()[attempt % living().length] as Replica
    const outcome = await time.during(Promise.race([
      replica.ask('tasks/update', { taskId, ...accept(name) }).then(() => 'acknowledged', () => 'refused'),
      timers.pause(5000).then(() => 'silent')
    ]), MAX_MS)
    if (outcome === 'acknowledged') return
  }
  throw new Error('no replica takes the answer')
}

const FAULTS: ReadonlyArray<Fault | undefined> = [
  undefined, 'killed-before', 'killed-after', 'lost', 'refused', 'paused'
]
/** More than the operations of the store in one update. */
const OPERATIONS = 5

for (const [phase, enter] of Object.entries(PHASES)) {
  for (const where of ['at the replica that runs it', 'at another replica'] as const) {
    t.test(`an answer that comes while the task is ${phase}, ${where}`, async (t) => {
      const time = new VirtualTime(t)
      timersPass = async () => await time.during(timers.pause(500), MAX_MS)
      for (const fault of FAULTS) {
        for (let at = 0; at < (fault === undefined ? 1 : OPERATIONS); at++) {
          const scene = await begin(time)
          await enter(scene)
          const replica = where === 'at another replica' ? scene.spare() : scene.runner() ?? scene.spare()
          if (fault !== undefined) replica.fail(at, fault)
          await answer(time, scene, replica, 'Ada')
          const { task, asked } = await follow(time, scene)
          const what = `${fault ?? 'no fault'} at ${at}`
          t.match(task, { status: 'completed', result: 'Ada' }, what)
          t.strictSame(asked, [], `${what}: nobody is asked again`)
          scene.end()
        }
      }
    })

    t.test(`of two answers while the task is ${phase}, ${where} and elsewhere, the first counts`, async (t) => {
      const time = new VirtualTime(t)
      timersPass = async () => await time.during(timers.pause(500), MAX_MS)
      const scene = await begin(time)
      await enter(scene)
      const replica = where === 'at another replica' ? scene.spare() : scene.runner() ?? scene.spare()
      const other = scene.living().find((one) => one !== replica) ?? replica
      const { taskId } = scene
      await time.during(replica.ask('tasks/update', { taskId, ...accept('Ada') }), MAX_MS)
      await time.during(other.ask('tasks/update', { taskId, ...accept('Bob') }), MAX_MS)
      t.match(await follow(time, scene), { task: { status: 'completed', result: 'Ada' }, asked: [] })
      scene.end()
    })
  }
}

t.test('two answers at one moment: one counts, and nobody is asked again', async (t) => {
  const time = new VirtualTime(t)
  for (const phase of ['asking', 'running']) {
    const scene = await begin(time)
    await scene.reach(phase)
    const { taskId } = scene
    await time.during(Promise.all(scene.living().map(async ({ ask, name }) => (
      await ask('tasks/update', { taskId, ...accept(name) })
    ))), MAX_MS)
    const { task, asked } = await follow(time, scene)
    t.match(String(task.result), /^(first|second|third)$/, phase)
    t.strictSame(asked, [], phase)
    scene.end()
  }
})

t.test('an answer to an ended task is acknowledged, ignored, and changes nothing (289)', async (t) => {
  const time = new VirtualTime(t)
  const scene = await begin(time, async (round) => {
    await round.once('undo', () => 1)
    await timers.pause(30_000)
    return ''
  })
  const { taskId, reach, spare } = scene
  await reach('running')
  await time.during(spare().ask('tasks/cancel', { taskId }), MAX_MS)
  const before = await time.during(spare().ask('tasks/get', { taskId }), MAX_MS)
  for (const phase of ['over', 'undoing', 'over']) {
    await reach(phase)
    await time.during(spare().ask('tasks/update', { taskId, ...accept('Ada') }), MAX_MS)
    t.strictSame(await time.during(spare().ask('tasks/get', { taskId }), MAX_MS), before, phase)
  }
})

t.test('a handler that has not come to its question takes the answer without another run', async (t) => {
  const time = new VirtualTime(t)
  let runs = 0
  const world = openWorld(async (round) => {
    runs++
    // It stays in its first step of the second run until its replica has renewed the lease.
    if (runs > 1) await timers.pause(LEASE_MS)
    const [{ go }] = await Promise.all([
      round.ask({ go: WHO }), round.sleep(SLEEP_MS, undefined, timers.pause)
    ])
    return go.action
  })
  const [first, second] = [world.openReplica('first'), world.openReplica('second')]
  const taskId = await time.during(first.call(), MAX_MS)
  await time.during(timers.pause(SLEEP_MS + 1000), MAX_MS)
  t.equal(runs, 2)
  await time.during(second.ask('tasks/update', { taskId, ...accept('Ada') }, ADA), MAX_MS)
  await time.during(timers.pause(2 * LEASE_MS), MAX_MS)
  const task = await time.during(second.ask('tasks/get', { taskId }), MAX_MS)
  t.match(task, { status: 'completed', result: 'accept' })
  t.equal(runs, 2)
})

t.test('an answer to a question that a run has not come to is kept while it sleeps', async (t) => {
  const time = new VirtualTime(t)
  let runs = 0
  const world = openWorld(async (round) => {
    runs++
    const nap = async (ms: number, key: string) => await round.sleep(ms, key, timers.pause)
    const asks = async () => {
      // What is in no journal delays the question beyond the end of the run, which still sleeps.
      if (runs === 2) await timers.pause(5000)
      return await round.ask({ go: WHO })
    }
    const [{ go }] = await Promise.all([asks(), nap(SLEEP_MS, 'one'), nap(2 * SLEEP_MS, 'two')])
    return go.action
  })
  const replica = world.openReplica('only')
  const taskId = await time.during(replica.call(), MAX_MS)
  await time.during(timers.pause(SLEEP_MS + 1000), MAX_MS)
  t.match(await replica.tasks.operator.show(taskId), { phase: 'waiting', waitsFor: 'sleep' })
  await time.during(replica.ask('tasks/update', { taskId, ...accept('Ada') }), MAX_MS)
  await time.during(timers.pause(SLEEP_MS + 1000), MAX_MS)
  const task = await time.during(replica.ask('tasks/get', { taskId }), MAX_MS)
  t.match(task, { status: 'completed', result: 'accept' })
})
