// A task ends once, with one value of each step, whatever happens to the replica that runs it: at every
// operation of the store it is killed, paused for longer than its lease, or loses the reply.

import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { LEASE_MS, openWorld, question, type Fault, type Script, type TaskState } from './replicas.ts'

const FAULTS: readonly Fault[] = ['killed-before', 'killed-after', 'lost', 'refused', 'paused']
/** More than the operations of the store in one life of a task. */
const OPERATIONS = 40
const MAX_MS = 1_200_000

function createSteps () {
  const values = new Map<string, string[]>()
  return {
    values,
    async step (round: InputRound, key: string, replica: string): Promise<string> {
      return await round.once(key, () => {
        const all = values.get(key) ?? []
        values.set(key, all)
        all.push(`${key}-${all.length} at ${replica}`)
        return all.at(-1) ?? ''
      })
    }
  }
}

/** Asks a replica that lives, again and again, as a client does. */
async function follow (
  replicas: ReadonlyArray<ReturnType<ReturnType<typeof openWorld>['openReplica']>>, taskId: string
): Promise<TaskState> {
  for (let look = 0; ; look++) {
    await timers.pause(1000)
    const replica = replicas.filter(({ isDead }) => !isDead)[look % 2] ?? replicas.at(-1)
    if (replica === undefined) throw new TypeError('no replica')
    const ask = async (method: string, params: object) => await Promise.race([
      replica.ask(method, params), timers.pause(5000).then(() => undefined)
    ]).catch(() => undefined)
    const task = await ask('tasks/get', { taskId })
    if (task?.inputRequests !== undefined) {
      const keys = Object.keys(task.inputRequests)
      const inputResponses = Object.fromEntries(keys.map((key) => [key, { action: 'accept', content: {} }]))
      await ask('tasks/update', { taskId, inputResponses })
    } else if (task !== undefined && task.status !== 'working') return task
  }
}

for (const fault of FAULTS) {
  t.test(`${fault}, at each operation of a task that works, asks and sleeps`, async (t) => {
    const time = new VirtualTime(t)
    let faults = 0
    for (let at = 0; at < OPERATIONS; at++) {
      const { values, step } = createSteps()
      const script: Script = async (round, replica) => {
        const one = await step(round, 'one', replica)
        await round.ask({ go: question })
        const two = await step(round, 'two', replica)
        await round.sleep(60_000, undefined, timers.pause)
        return [one, two, await step(round, 'three', replica)].join()
      }
      const world = openWorld(script, { isRequired: true })
      const [first, second] = [world.openReplica('first'), world.openReplica('second')]
      first.fail(at, fault)
      const calling = first.call().catch(() => 'refused')
      const answer = await time.during(
        Promise.race([calling, timers.pause(60_000).then(() => 'lost')]), MAX_MS
      )
      if (answer.startsWith('task_')) {
        const task = await time.during(follow([first, second], answer), MAX_MS)
        t.equal(task.status, 'completed', `operation ${at}: ${JSON.stringify(task)}`)
        for (const [index, value] of String(task.result).split(',').entries()) {
          t.ok(values.get(['one', 'two', 'three'][index] ?? '')?.includes(value), `operation ${at}: ${value}`)
        }
        if (fault === 'lost' || fault === 'refused') {
          const counts = [...values.values()].map(({ length }) => length)
          t.strictSame(counts, [1, 1, 1], `operation ${at}: each step once`)
          const losses = [...first.warnings, ...second.warnings].filter((warning) => /was lost/.test(warning))
          t.strictSame(losses, [], `operation ${at}: a replica knows its own write`)
        }
      } else if (answer === 'refused') {
        await time.during(timers.pause(20 * LEASE_MS), MAX_MS)
        t.ok((values.get('two') ?? []).length === 0, `operation ${at}: a refused call does not go on`)
      }
      if (first.operations > at) faults++
      for (const { kill } of [first, second]) kill()
      time.stopTimers()
    }
    t.ok(faults > 15, `${faults} faults`)
  })
}
