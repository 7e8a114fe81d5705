// Three places of replicas behind nginx, whose processes are killed and paused, and whose connections to
// Redis are cut, delayed and lose replies, while clients begin tasks that work, ask and sleep, update
// handles, and repeat calls under one key. What was acknowledged is there, once. CHAOS_SECONDS is the
// duration of the storm; `npm run chaos` prints the figures of a long one.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import { toReplicaEnvironment } from '../helpers/replicas.ts'
import { toPost, type Message } from '../helpers/request.ts'
import { openFaultyConnection, type FaultyConnection } from '../servers/faulty-connection.ts'
import { hasNginx, startNginx } from '../servers/nginx.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { TASKS } from '../tasks/task-client.ts'
import { openPlaces, type Place } from './places.ts'
import { createRandom } from './shopping.ts'

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 10)
const LEASE_MS = 2000
const EVERY_MS = 1500
const TASK_CLIENTS = 4
const HANDLE_CLIENTS = 4
const KEY_CLIENTS = 4
/** After the storm, whatever was begun must end within this time. */
const END_MS = 120_000

const toFiles = (file: string) => ({
  'handles/ledger.ts': `import { defineHandle } from 'trivet'
    export const ledgers = defineHandle({ kind: 'ledger', prefix: 'led', idleTtlMs: 86_400_000,
      schema: { type: 'array', items: { type: 'string' } } })`,
  'tools/all.ts': `import { appendFileSync } from 'node:fs'
    import { defineTool, elicit } from 'trivet'
    import { ledgers } from '../handles/ledger.ts'
    const note = (what) => appendFileSync(${JSON.stringify(file)}, what + '\\n')
    const object = (...names) => ({ type: 'object', required: names,
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) })
    const step = (ctx, task, key) => ctx.step(key, {}, async () => {
      const value = crypto.randomUUID()
      await new Promise((done) => setTimeout(done, 100 * Math.random()))
      return value
    })
    export const work = defineTool({ name: 'work', description: 'Works.', task: 'required',
      onReplicaLoss: 'rerun', inputSchema: object('task'),
      async run ({ task }, ctx) {
        const values = []
        const record = async (key) => {
          const value = await step(ctx, task, key)
          note([task, key, value].join(' '))
          values.push(value)
        }
        await record('one')
        await ctx.ask({ go: elicit.form({ message: 'Go on?', schema: { type: 'object', properties: {} } }) })
        await record('two')
        await ctx.sleep(1000 + 1000 * Math.random())
        await record('three')
        return { values }
      } })
    export const open = defineTool({ name: 'open', description: 'Opens.', async run (_, ctx) {
      return { id: (await ctx.handles(ledgers).create([])).id } } })
    export const add = defineTool({ name: 'add', description: 'Adds.', inputSchema: object('id', 'entry'),
      async run ({ id, entry }, ctx) {
        await ctx.handles(ledgers).update(id, (all) => { if (!all.includes(entry)) all.push(entry) })
        return { ok: true }
      } })
    export const show = defineTool({ name: 'show', description: 'Shows.', inputSchema: object('id'),
      run: async ({ id }, ctx) => ({ entries: await ctx.handles(ledgers).read(id) }) })
    export const order = defineTool({ name: 'order', description: 'Orders.', dedupe: true,
      annotations: { idempotentHint: true }, inputSchema: object('item'),
      async run () {
        await new Promise((done) => setTimeout(done, 150))
        return { order: crypto.randomUUID() }
      } })`
})

if (hasRedisServer(t) && hasNginx(t)) {
  t.setTimeout(SECONDS * 1000 + 3 * END_MS)
  t.test('what was acknowledged is there once, whatever was killed, paused, cut or lost', {
    timeout: SECONDS * 1000 + 2 * END_MS
  }, async (t) => {
    const over = new AbortController()
    t.teardown(() => over.abort())
    await checkStorm(t, over)
  })
}

async function checkStorm (t: Test, over: AbortController): Promise<void> {
  const file = join(await makeFolder(t), 'notes')
  const redis = await startRedisServer(t, { args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
  const faulty = await openFaultyConnection(t, Number(new URL(redis.url).port))
  const places = await openPlaces(t, {
    signal: over.signal,
    places: 3,
    spares: 3,
    environment: {
      ...await toReplicaEnvironment(t, `redis://127.0.0.1:${faulty.port}`, await writeCatalog(t, toFiles(file))),
      TRIVET_TASK_LEASE_MS: String(LEASE_MS),
      TRIVET_WATCH: 'off'
    }
  })
  const client = new StormClient(`${await startNginx(t, places.map(({ port }) => port))}/mcp`)
  const calm = new AbortController()
  const tasks = new TaskLedger(client)
  const entries = new Map<string, string[]>()
  const answers = new Map<string, Set<string>>()
  const work = Promise.all([
    ...repeat(TASK_CLIENTS, calm.signal, async (name) => await tasks.begin(name)),
    ...repeat(HANDLE_CLIENTS, calm.signal, async (name, number) => {
      const id = [...entries.keys()][number % 3] ?? (await client.insist('open', {})).structuredContent.id
      if (!entries.has(id)) entries.set(id, [])
      await client.insist('add', { id, entry: name })
      entries.get(id)?.push(name)
    }),
    ...repeat(KEY_CLIENTS, calm.signal, async (name) => {
      const values = new Set<string>()
      answers.set(name, values)
      const order = async () => {
        const headers = { 'idempotency-key': name }
        const { structuredContent } = await client.insist('order', { item: name }, headers)
        values.add(structuredContent.order)
      }
      await Promise.all([order(), order()])
      await order()
    })
  ])
  const faults = await wreak(places, faulty)
  calm.abort()
  await work
  await tasks.follow(END_MS)
  over.abort()

  const notes = await readFile(file, 'utf8').catch(() => '')
  const doubled = [...valuesOf(notes)].filter(([, { size }]) => size > 1)
  const lost = await Promise.all([...entries].map(async ([id, added]) => {
    const { structuredContent: { entries: kept } } = await client.insist('show', { id })
    return added.filter((entry) => kept.filter((one: string) => one === entry).length !== 1)
  }))
  const replaced = [...answers.values()].filter(({ size }) => size > 1)
  t.strictSame(tasks.stranded, [], 'every task ended')
  t.strictSame(tasks.failed, [], 'no task failed')
  t.strictSame(doubled, [], 'a step has one value in all runs')
  t.strictSame(lost.flat(), [], 'each acknowledged entry is there once')
  t.strictSame(replaced.length, 0, 'each key has one answer')
  t.ok(tasks.count > 0 && answers.size > 0 && entries.size > 0, 'each client did something')
  t.comment(`${SECONDS} s: ${[...faults].map(([fault, count]) => `${count} ${fault}`).join(', ')}`)
  t.comment(`${tasks.count} tasks begun and ended; ${answers.size} keys of ${3 * answers.size} calls; ` +
    `${[...entries.values()].flat().length} entries; ${client.retries} requests sent again`)
}

/** Makes one fault after the other until the time is over. Resolves to how many of each. */
async function wreak (places: readonly Place[], faulty: FaultyConnection): Promise<Map<string, number>> {
  const random = createRandom(SECONDS)
  const pick = () => places[Math.floor(random() * places.length)]
  const faults: ReadonlyArray<readonly [string, () => Promise<void> | undefined | void]> = [
    ['kills', () => pick()?.replace()],
    ['pauses', () => pick()?.pause(2 * LEASE_MS)],
    ['cuts', () => faulty.cut()],
    ['lost replies', () => faulty.loseReplies()],
    ['delays', async () => {
      faulty.delay(300)
      await pause(1000)
      faulty.delay(0)
    }]
  ]
  const counts = new Map<string, number>()
  const end = performance.now() + SECONDS * 1000
  for (let number = 0; performance.now() < end; number++) {
    const beat = pause(EVERY_MS)
    const [name, make] = faults[number % faults.length] ?? ['', () => {}]
    counts.set(name, (counts.get(name) ?? 0) + 1)
    await make()
    await beat
  }
  return counts
}

/** Starts clients that do the work again and again until the signal aborts. */
function repeat (
  clients: number, signal: AbortSignal, work: (name: string, number: number) => Promise<void>
): Array<Promise<void>> {
  return Array.from({ length: clients }, async (_, client) => {
    for (let number = 0; !signal.aborted; number++) await work(`${client}-${number}`, number)
  })
}

function valuesOf (notes: string): Map<string, Set<string>> {
  const values = new Map<string, Set<string>>()
  for (const line of notes.trim().split('\n')) {
    const [task = '', key = '', value = ''] = line.split(' ')
    const name = `${task} ${key}`
    values.set(name, (values.get(name) ?? new Set()).add(value))
  }
  return values
}

/** A client that sends a request again until it is acknowledged. */
class StormClient {
  retries = 0
  readonly #url: string

  constructor (url: string) {
    this.#url = url
  }

  async insist (
    name: string, args: object, headers: { readonly [name: string]: string } = {}
  ): Promise<Message> {
    for (;;) {
      const { result } = await this.ask('tools/call', { name, arguments: args }, headers)
      if (result !== undefined && result.isError !== true) return result
      if (!/cannot be reached|too many|at the moment/i.test(JSON.stringify(result))) {
        throw new Error(`${name}: ${JSON.stringify(result)}`)
      }
      await this.#rest()
    }
  }

  /** Resolves to an answer that is no failure of the service or of the way to it. */
  async ask (
    method: string, params: object, headers: { readonly [name: string]: string } = {}
  ): Promise<Message> {
    for (;;) {
      const post = toPost({
        method,
        params: { ...params },
        headers,
        meta: { 'io.modelcontextprotocol/clientCapabilities': { ...TASKS, elicitation: {} } }
      })
      try {
        const answer = await fetch(this.#url, {
          method: 'POST', headers: post.headers, body: post.body, signal: AbortSignal.timeout(20_000)
        })
        const message: Message = JSON.parse((await answer.text()).replace(/^[^{]*/, ''))
        if (answer.status < 500 && ![503, -32603].includes(message.error?.code)) return message
      } catch {
        // The replica was killed or paused.
      }
      await this.#rest()
    }
  }

  async #rest (): Promise<void> {
    this.retries++
    await pause(100 + 100 * Math.random())
  }
}

class TaskLedger {
  readonly #client: StormClient
  readonly #open = new Set<string>()
  readonly failed: Message[] = []
  count = 0

  constructor (client: StormClient) {
    this.#client = client
  }

  get stranded (): readonly string[] { return [...this.#open] }

  async begin (name: string): Promise<void> {
    const { result } = await this.#client.ask('tools/call', { name: 'work', arguments: { task: name } })
    const { taskId } = result
    this.count++
    this.#open.add(taskId)
    await pause(500)
    await this.#look(taskId)
  }

  /** Answers the questions of all open tasks until they have ended. */
  async follow (ms: number): Promise<void> {
    const end = performance.now() + ms
    while (this.#open.size > 0 && performance.now() < end) {
      await Promise.all([...this.#open].map(async (taskId) => await this.#look(taskId)))
      await pause(500)
    }
  }

  async #look (taskId: string): Promise<void> {
    const { result: task, error } = await this.#client.ask('tasks/get', { taskId })
    if (task?.status === 'input_required') {
      const inputResponses = Object.fromEntries(
        Object.keys(task.inputRequests).map((key) => [key, { action: 'accept', content: {} }])
      )
      await this.#client.ask('tasks/update', { taskId, inputResponses })
    }
    if (task?.status === 'working' || task?.status === 'input_required') return
    this.#open.delete(taskId)
    if (task?.status !== 'completed') this.failed.push(task ?? error)
  }
}
