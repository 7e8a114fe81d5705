// Sessions whose clients never say goodbye: they leave nothing behind, neither in the process nor in the
// store.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { createSessionSettings } from '../src/edges/legacy/sessions/session-settings.ts'
import { createMemoryStateStore } from '../src/platform/store/backends/memory/state-store.ts'
import { toolModule, writeCatalog } from './helpers/catalog-folder.ts'
import { until, within } from './helpers/deadline.ts'
import { hasRedisServer, startRedisServer, type RedisServer } from './servers/redis-server.ts'
import { createLocalSessionMessages } from './helpers/session-messages.ts'

const INDEX = new URL('../dist/index.js', import.meta.url).href
const CLIENTS = 32
/** Enough to fill what is remembered of the latest sessions, which is bounded. */
const WARM_UP_SESSIONS = 2500
const SESSIONS = 10_000
/** Every second one has settings, every twentieth is cut off from its stream. */
const SETTINGS_EVERY = 2
const STREAM_EVERY = 20
const IDLE_MS = 1000
/**
 * Of heap, for all of the sessions together. To keep of each what its token says would take several times as
 * much, see below.
 */
const MAX_GROWTH_BYTES = 1_000_000

/**
 * Answers each message with the bytes in use after a full collection. The message 'keep' first keeps SESSIONS
 * sessions in memory.
 */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  const kept = []
  process.on('message', (ask) => {
    for (let i = 0; ask === 'keep' && i < ${SESSIONS}; i++) {
      kept.push(JSON.parse(JSON.stringify({
        id: 'session-' + i, owner: 'anonymous' + i, revision: '2025-11-25',
        clientInfo: { name: 'test ' + i, version: '1.0.' + i }, clientCapabilities: {},
        expiresAt: Date.now() + i
      })))
    }
    gc()
    setImmediate(() => {
      gc()
      process.send(process.memoryUsage().heapUsed)
    })
  })
  process.channel.unref()
`)}`

interface Service { readonly url: string, heapBytes (ask?: 'measure' | 'keep'): Promise<number> }

/** The built service, which says on request how much memory it holds. */
async function startService (t: Test, stateUrl: string): Promise<Service> {
  const catalog = await writeCatalog(t, { 'tools/hello.ts': toolModule('hello'), 'resources/a.txt': 'a' })
  const options = {
    catalog,
    overload: 'off',
    maxCallsPerCaller: 'off',
    logLevel: 'warn',
    stateUrl,
    secrets: ['sealed for no longer than a test takes'],
    constants: { sessionIdleMs: IDLE_MS }
  }
  const source = `import { createApp } from ${JSON.stringify(INDEX)}
    const app = await createApp(${JSON.stringify(options)})
    console.log(await app.listen({ host: '127.0.0.1', port: 0 }) + '/mcp')`
  const args = ['--expose-gc', '--import', PROBE, '--input-type=module', '-e', source]
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc']
  })
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => { printed += chunk })
  const findUrl = () => /http:\/\/[^\s"]+/.exec(printed)?.[0]
  await until(() => findUrl() !== undefined || child.exitCode !== null, 'the service', 30_000)
  const url = findUrl()
  if (url === undefined) throw new Error(`the service ended before it served:\n${printed}`)
  return {
    url,
    async heapBytes (ask = 'measure') {
      const measured = once(child, 'message')
      child.send(ask)
      const [bytes]: number[] = await within(measured, 'the size of the heap')
      return bytes ?? NaN
    }
  }
}

type Headers = { readonly [name: string]: string }

async function open (
  agent: Agent, url: string, method: string, headers: Headers, body = ''
): Promise<IncomingMessage> {
  const sent = request(url, {
    agent,
    method,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
  })
  sent.end(body)
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  if (answer === undefined) throw new TypeError('unreachable')
  return answer
}

/** Sends one request and returns its session; throws where the answer is no result. */
async function post (
  agent: Agent, url: string, headers: Headers, method: string, params: object
): Promise<string | undefined> {
  const answer = await open(
    agent, url, 'POST', headers, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  )
  const body = await text(answer)
  if (answer.statusCode !== 200 || JSON.parse(body).result === undefined) {
    throw new Error(`${method} was answered with ${answer.statusCode}: ${body}`)
  }
  const session = answer.headers['mcp-session-id']
  return typeof session === 'string' ? session : undefined
}

/** What a client does that then is never heard of again. */
async function comeAndGo (agent: Agent, url: string, index: number): Promise<void> {
  const session = await post(agent, url, {}, 'initialize', {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: `test ${index}`, version: '1.0.0' }
  })
  if (session === undefined) throw new Error('initialize made no session')
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
  await post(agent, url, headers, 'tools/call', { name: 'hello', arguments: {} })
  if (index % SETTINGS_EVERY === 0) {
    await post(agent, url, headers, 'logging/setLevel', { level: 'warning' })
    await post(agent, url, headers, 'resources/subscribe', { uri: 'file:///a.txt' })
  }
  if (index % STREAM_EVERY === 0) {
    const stream = await open(agent, url, 'GET', headers)
    if (stream.statusCode !== 200) throw new Error(`a stream was answered with ${stream.statusCode}`)
    stream.destroy()
  }
}

async function comeAndGoAll (url: string, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  let next = 0
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => { while (next < count) await comeAndGo(agent, url, next++) })
  )
  agent.destroy()
}

async function countKeys (redis: RedisServer): Promise<number> {
  return Number(await redis.cli('dbsize'))
}

t.test(`${SESSIONS.toLocaleString('en')} sessions that are never ended`, async (t) => {
  if (!hasRedisServer(t)) return
  const redis = await startRedisServer(t)
  const { url, heapBytes } = await startService(t, redis.url)
  await comeAndGoAll(url, WARM_UP_SESSIONS)
  await until(async () => await countKeys(redis) === 0, 'the end of the first sessions\' records', 20_000)
  const before = await heapBytes()

  await comeAndGoAll(url, SESSIONS)
  const records = await countKeys(redis)
  t.ok(records > 0, `have ${records} keys in the store while they are new`)

  const grown = await heapBytes() - before
  t.ok(grown < MAX_GROWTH_BYTES, `leave no memory behind in the process: it has grown by ${grown} bytes`)

  await until(async () => await countKeys(redis) === 0, 'the end of all sessions\' records', 20_000)
  t.pass('leave no key behind in the store')

  const left = await heapBytes()
  const kept = await heapBytes('keep') - left
  t.ok(
    kept > 2 * MAX_GROWTH_BYTES,
    `would be found out if the process kept one object for each: that is ${kept} bytes`
  )
})

t.test('the records of sessions that are never ended are gone from memory after their idle lifetime', async (
  t
) => {
  let time = 0
  const store = createMemoryStateStore({ now: () => time })
  t.teardown(async () => await store.close())
  const settings = createSessionSettings(store, createLocalSessionMessages(), {
    idleMs: IDLE_MS, onError: (error) => t.fail(String(error)), now: () => time
  })
  t.teardown(() => settings.close())
  const sessions = Array.from({ length: 100 }, (_, index) => (
    {
      id: String(index),
      owner: 'anonymous',
      revision: '2025-11-25',
      clientInfo: undefined,
      clientCapabilities: {},
      expiresAt: 60_000
    }
  ))
  const countRecords = async () => {
    const groups = [...new Set(sessions.map(({ id }) => id.slice(0, 1)))]
    const owners = groups.map((group) => `session-settings-anonymous-${group}`)
    const lists = await Promise.all(owners.map(async (owner) => await store.list(owner)))
    return lists.reduce((sum, { size }) => sum + size, 0)
  }

  for (const session of sessions) {
    await settings.update(session, (before) => ({ ...before, logLevel: 'warning' }))
  }
  time = IDLE_MS - 1
  t.equal(await countRecords(), sessions.length)
  time = IDLE_MS
  t.equal(await countRecords(), 0)
})
