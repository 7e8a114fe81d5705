// The progress of a task never goes back, though its handler runs again from its first line.

import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import type { RequestContext } from '../../../src/request/pipeline/request-context.ts'
import { CallWait } from '../../../src/features/tasks/calls/wait.ts'
import { RunProgress } from '../../../src/features/tasks/runs/run-progress.ts'
import { TaskWatches } from '../../../src/features/tasks/runs/watches.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { openWorld, type Fault, type Script } from './replicas.ts'
import { serveInVirtualTime, TaskClient } from './task-client.ts'
import { RUNNING, UNDONE } from './transition-cases.ts'

const FAULTS: readonly Fault[] = ['killed-before', 'killed-after', 'lost', 'refused', 'paused']
/** More than the operations of the store in one life of the task. */
const OPERATIONS = 40
const MAX_MS = 1_200_000
const PARTS = 6

Object.assign(globalThis, { taskPause: timers.pause })

/** Tells each part, then does it for some seconds. Each second part is a step, and the others sleep. */
const script: Script = async (round, _replica, _principal, tell) => {
  for (let part = 1; part <= PARTS; part++) {
    tell(part)
    if (part % 2 === 0) await round.sleep(5000, undefined, timers.pause)
    else await round.once(`part ${part}`, async () => await timers.pause(3000))
    tell(part + 0.5)
    await timers.pause(2500)
  }
  return 'done'
}

for (const fault of FAULTS) {
  t.test(`${fault}, at each operation: no replica tells of an earlier part than any before`, async (t) => {
    const time = new VirtualTime(t)
    const seen = new Set<number>()
    let rises = 0
    for (let at = 0; at < OPERATIONS; at++) {
      const world = openWorld(script, { isRequired: true })
      const replicas = [world.openReplica('first'), world.openReplica('second')]
      const [first] = replicas
      first?.fail(at, fault)
      const calling = first?.call().catch(() => 'refused')
      const taskId = await time.during(
        Promise.race([calling, timers.pause(60_000).then(() => 'lost')]), MAX_MS
      ) ?? ''
      const told: number[] = []
      for (let look = 0; look < 200 && taskId.startsWith('task_'); look++) {
        await time.during(timers.pause(700), MAX_MS)
        const living = replicas.filter(({ isDead }) => !isDead)
        const reading = living[look % living.length]?.ask('tasks/get', { taskId }).catch(() => undefined)
        const silence = timers.pause(300).then(() => undefined)
        const task = await time.during(Promise.race([reading, silence]), MAX_MS)
        if (task?.status === 'completed') break
        if (task?.statusMessage !== undefined) told.push(Number(task.statusMessage.replace('Part ', '')))
      }
      for (const part of told) seen.add(part)
      if (told.some((part, index) => part < (told[index - 1] ?? 0))) t.fail(`operation ${at}: ${told.join()}`)
      rises += new Set(told).size
      for (const { kill } of replicas) kill()
      time.stopTimers()
    }
    t.ok(rises > 100, `${rises} messages`)
    t.ok(seen.size > PARTS, [...seen].toSorted().join())
  })
}

t.test('a handler that runs again tells only what is new, in the status and to who waits', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    parts: ["task: 'allowed'", `async (_, ctx) => {
      for (const part of [1, 2, 3]) {
        ctx.progress(part, 3, 'Part ' + part)
        await ctx.sleep(1000)
        await globalThis.taskPause(1200)
      } }`]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('parts')
  const told: string[] = []
  for (let task; task?.status !== 'completed';) {
    task = await client.get(taskId)
    if (task.statusMessage !== undefined && task.statusMessage !== told.at(-1)) told.push(task.statusMessage)
    await time.during(timers.pause(10), 10)
  }
  t.strictSame(told, ['Part 1', 'Part 2', 'Part 3'])
})

t.test('a run is silent up to what earlier ones have told, and an undo always', (t) => {
  const progress = new RunProgress({ ...RUNNING, statusMessage: 'Part 2', progress: 2 })
  t.strictSame([1, 2, 2.5, 2.25, 3].map((done) => progress.take({ progress: done })), [
    false, false, true, false, true
  ])
  t.strictSame(progress.members, { statusMessage: '3', progress: 3 })
  t.equal(new RunProgress(RUNNING).take({ progress: -1 }), true, 'the first one is told, whatever its number')
  const earlier = new RunProgress({ ...RUNNING, statusMessage: 'of an earlier release' })
  t.equal(earlier.take({ progress: 1 }), true)
  t.equal(new RunProgress(UNDONE).take({ progress: 9 }), false)
  t.end()
})

t.test('a request that waits is told no earlier part by a record than by the run here', (t) => {
  const told: unknown[] = []
  const request = {
    lifetime: { onStop () {} },
    progress: (...progress: unknown[]) => told.push(progress),
    progressMessage: (message: string) => told.push(message)
  } as unknown as RequestContext
  const wait = new CallWait(new TaskWatches(createLocalBroadcast()), 'a/b', request, 1000)
  wait.noteStatus({ statusMessage: 'Part 1', progress: 1 }, true)
  wait.onProgress({ progress: 5, total: 9, message: 'Part 5' })
  for (const part of [3, 4, 5, 6]) wait.noteStatus({ statusMessage: `Part ${part}`, progress: part }, true)
  wait.noteStatus({ statusMessage: 'of an earlier release' }, true)
  t.strictSame(told, ['Part 1', [5, 9, 'Part 5'], 'Part 6', 'of an earlier release'])
  wait.end()
  t.end()
})
