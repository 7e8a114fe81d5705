import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { relayLines } from '../../../src/programs/process/relayed-lines.ts'
import { WorkerSlot } from '../../../src/programs/process/worker-slot.ts'
import { toRoleVariables } from '../../../src/programs/process/worker.ts'
import { until } from '../../helpers/deadline.ts'

const DEADLINE_MS = 30_000
const LOADER = new URL('../../runner/register.mjs', import.meta.url).href

cluster.setupPrimary({
  exec: fileURLToPath(new URL('worker-process.ts', import.meta.url)),
  execArgv: [`--import=${LOADER}`],
  args: [],
  stdio: ['ignore', 'pipe', 'inherit', 'ipc']
})

function createSlot (t: Test, serves = true) {
  const lines: string[] = []
  let forks = 0
  const slot = new WorkerSlot({
    number: 1,
    variables: {
      ...toRoleVariables({ number: 1, count: 1, isForPeople: false }), WORKER_SERVES: serves ? 'yes' : 'no'
    },
    handlers: new Map(),
    log: { warn () {}, error () {} },
    async relay ({ process: { stdout } }) {
      forks++
      if (stdout === null) throw new Error('the worker has no output')
      await relayLines(stdout, async (text) => { lines.push(...text.trimEnd().split('\n')) })
    },
    onReady () {},
    mayRestart: () => true,
    onEnded () {}
  })
  t.teardown(() => slot.kill())
  return { slot, lines, countForks: () => forks }
}

const ORDER = { signal: 'SIGTERM', timeoutMs: 1000 }

t.test('a worker is stopped by an order that comes while its Node starts', async (t) => {
  const { slot, lines } = createSlot(t)
  const running = slot.run()
  await slot.stop(ORDER)
  t.match(await running, { code: 3, signal: null })
  t.strictSame(lines, ['stop SIGTERM'])
})

t.test('the other orders reach it too', async (t) => {
  for (const name of ['unready', 'reload'] as const) {
    const { slot, lines } = createSlot(t)
    slot.run()
    slot.tell(name)
    await until(() => lines.includes(name), name, DEADLINE_MS)
    await slot.stop(ORDER)
    t.strictSame(lines, [name, 'stop SIGTERM'], 'once')
  }
})

t.test('a worker that takes the place of another one is unready too, and does not reload', async (t) => {
  for (const [name, expected] of [['unready', ['unready', 'unready']], ['reload', ['reload']]] as const) {
    const { slot, lines, countForks } = createSlot(t)
    slot.run()
    await until(() => slot.isReady, 'the worker', DEADLINE_MS)
    slot.tell(name)
    await until(() => lines.length === 1, name, DEADLINE_MS)
    slot.kill()
    await until(() => countForks() === 2 && slot.isReady, 'the next worker', DEADLINE_MS)
    await slot.stop(ORDER)
    t.strictSame(lines, [...expected, 'stop SIGTERM'])
  }
})

t.test('a stopped slot runs no worker', async (t) => {
  const { slot, countForks } = createSlot(t)
  t.equal(await slot.stop(ORDER), 0)
  t.match(await slot.run(), { code: 0, signal: null })
  t.equal(countForks(), 0)
})

t.test('only the exit code of a worker that has served counts', async (t) => {
  for (const [serves, code] of [[true, 3], [false, 0]] as const) {
    const { slot, lines } = createSlot(t, serves)
    const running = slot.run()
    if (serves) await until(() => slot.isReady, 'the worker', DEADLINE_MS)
    t.equal(await slot.stop(ORDER), code)
    t.strictSame(await running, { code: 3, signal: null, hasServed: serves })
    t.strictSame(lines, ['stop SIGTERM'])
  }
})
