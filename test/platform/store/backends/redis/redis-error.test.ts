// An error of Redis has its reason, and nothing that was sent.

import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import type { OpenedBackend } from '../../../../../src/platform/store/backends/backend.ts'
import { openRedisBackend } from '../../../../../src/platform/store/backends/redis/open.ts'
import { RedisError, toRedisError } from '../../../../../src/platform/store/backends/redis/redis-error.ts'
import { StoreUnavailable } from '../../../../../src/platform/store/records/state-store.ts'
import { until } from '../../../../helpers/deadline.ts'
import { createReadableLog } from '../../../../helpers/log.ts'
import { hasRedisServer, startRedisServer, type RedisServer } from '../../../../servers/redis-server.ts'
import { toValue } from '../../../../helpers/state-value.ts'

const CANARY = 'canary-4711'
/** The same as a printed Buffer. */
const CANARY_BYTES = (Buffer.from(CANARY).toString('hex').match(/../g) ?? []).join(' ')
const KEY = { owner: `${CANARY}-owner`, name: `${CANARY}-name` }
const LIFETIME = { idleMs: 60_000 }

/** Prints all members of a value. */
function print (value: unknown): string {
  return inspect(value, { depth: Infinity, showHidden: true, maxArrayLength: null, maxStringLength: null })
}

const isTelling = (value: unknown) => print(value).includes(CANARY) || print(value).includes(CANARY_BYTES)

interface Watched {
  readonly backend: OpenedBackend
  /** All errors that callers and the log got. */
  readonly given: unknown[]
  /**
   * Sends the canary through the store, the broadcast and the log. Returns the number of rejected calls.
   */
  use (): Promise<number>
}

async function watch (t: Test, url: string): Promise<Watched> {
  const given: unknown[] = []
  const log = { warn (fields: object) { given.push(fields) } }
  const backend = await openRedisBackend(url, { log, prefix: 'trivet' })
  t.teardown(async () => await backend.close())
  const { store, broadcast, eventLog } = backend
  const value = toValue(`${CANARY}-value`)
  const calls: ReadonlyArray<() => Promise<unknown>> = [
    async () => await store.create(KEY, value, LIFETIME, 10),
    async () => await store.read(KEY),
    async () => await store.replace(KEY, `${CANARY}-version`, value),
    async () => await store.delete(KEY),
    async () => await store.list(KEY.owner),
    async () => await store.check(),
    async () => await broadcast.publish({ type: 'resource-updated', uri: `test:${CANARY}`, owner: KEY.owner }),
    async () => await broadcast.send({ type: 'test', text: CANARY }),
    async () => await eventLog.append(`${CANARY}.stream`, { position: 1, text: CANARY }),
    async () => await eventLog.read(`${CANARY}.stream`, 0)
  ]
  async function use (): Promise<number> {
    const outcomes = await Promise.allSettled(calls.map(async (call) => await call()))
    const failures = outcomes.flatMap((outcome) => outcome.status === 'rejected' ? [outcome.reason] : [])
    given.push(...failures)
    return failures.length
  }
  return { backend, given, use }
}

interface Refusal {
  readonly name: string
  readonly refuse: (server: RedisServer) => Promise<unknown> | void
  /** The start of the errors' messages. */
  readonly message: RegExp
}

const OWNER_KEY = `trivet:{${KEY.owner}}`
const KEYS = [OWNER_KEY, `${OWNER_KEY}:${KEY.name}`, `trivet:stream:{${CANARY}.stream}`]

const REFUSALS: readonly Refusal[] = [
  {
    name: 'is full',
    refuse: async ({ cli }) => await cli('config', 'set', 'maxmemory', '1'),
    message: /^OOM command not allowed when used memory > 'maxmemory'/
  },
  {
    name: 'has something else under the keys',
    refuse: async ({ cli }) => await Promise.all(KEYS.map(async (key) => await cli('set', key, 'x'))),
    message: /^WRONGTYPE Operation against a key holding the wrong kind of value/
  },
  {
    name: 'lets its user run no scripts',
    refuse: async ({ cli }) => await cli('acl', 'setuser', 'default', '-@scripting'),
    message: /^NOPERM .* has no permissions to run the 'evalsha' command/
  },
  {
    name: 'lets its user touch no keys',
    refuse: async ({ cli }) => await cli('acl', 'setuser', 'default', 'resetkeys'),
    message: /^NOPERM /
  },
  {
    name: 'lets its user use no channels',
    refuse: async ({ cli }) => await cli('acl', 'setuser', 'default', 'resetchannels'),
    message: /^NOPERM /
  },
  {
    name: 'has become a replica',
    refuse: async ({ cli }) => await cli('replicaof', '127.0.0.1', '1'),
    message: /^READONLY /
  },
  { name: 'hangs', refuse: ({ freeze }) => freeze(), message: /^Command timed out/ }
]

if (hasRedisServer(t)) {
  t.test('an error of the driver contains the sent data', async (t) => {
    const server = await startRedisServer(t)
    const client = new Redis(server.url)
    t.teardown(() => { client.disconnect() })
    await client.set(CANARY, 'x')
    const calls = [client.lpush(CANARY, CANARY), client.call('unknown', CANARY, Buffer.from(CANARY))]
    for (const failing of calls) {
      const error: unknown = await failing.then(() => undefined, (error: unknown) => error)
      t.ok(isTelling(error))
      t.notOk(isTelling(toRedisError(error)))
    }
  })

  for (const { name, refuse, message } of REFUSALS) {
    t.test(`a Redis that ${name}`, { timeout: 60_000 }, async (t) => {
      const server = await startRedisServer(t)
      const { given, use } = await watch(t, server.url)
      t.equal(await use(), 0)
      await refuse(server)
      t.ok(await use() > 0)
      // Some refusals close the connection, which causes more errors.
      await use()
      const told = print(given)
      t.ok(given.length > 0)
      t.notMatch(told, CANARY)
      t.notMatch(told, CANARY_BYTES)
      const errors = given.map((one) => one instanceof StoreUnavailable ? one.cause : one)
      const isExpected = (error: unknown) => error instanceof RedisError && message.test(error.message)
      t.ok(errors.some(isExpected), told.slice(0, 3000))
    })
  }

  t.test('a Redis without a command', async (t) => {
    const server = await startRedisServer(t, { args: ['--rename-command', 'EVALSHA', ''] })
    const { given, use } = await watch(t, server.url)
    t.ok(await use() > 0)
    t.notOk(isTelling(given))
    const cause = { message: /^ERR unknown command '?EVALSHA'?$/, command: /evalsha/i }
    t.match(given, [{ name: 'StoreUnavailable', cause }])
  })

  t.test('a Redis with another password', { timeout: 60_000 }, async (t) => {
    const server = await startRedisServer(t, { password: 'another' })
    const url = server.url.replace(/\/\/.*@/, `//${CANARY}-user:${CANARY}-word@`)
    const given: unknown[] = []
    const log = { warn (fields: object) { given.push(fields) } }
    const opening = openRedisBackend(url, { log, prefix: 'trivet' })
    given.push(await opening.then(() => undefined, (error: unknown) => error))
    const message = /^TRIVET_STATE_URL: no Redis is reachable .*WRONGPASS/
    t.match(given.at(-1), { message, cause: { name: 'RedisError' } })
    t.notOk(isTelling(given), print(given))
  })

  t.test('a log that writes all members of errors', async (t) => {
    const server = await startRedisServer(t)
    const { logger, lines, text } = createReadableLog()
    const { store, close } = await openRedisBackend(server.url, { log: logger, prefix: 'trivet' })
    t.teardown(close)
    await server.cli('set', `trivet:{${KEY.owner}}:${KEY.name}`, 'x')
    await store.read(KEY).catch((err: unknown) => logger.error({ err }))
    await until(() => lines.length > 0, 'the line')
    const message = /^the state store is not available: WRONGTYPE/
    t.match(lines, [{ err: { message, stack: /RedisError: WRONGTYPE.*\n +at / } }])
    t.notMatch(text(), CANARY)
  })
}

t.test('an error keeps its message, code, command and stack, and nothing else', async (t) => {
  const command = { name: 'set', args: [CANARY, Buffer.from(`${CANARY} in bytes`), 1, `it's ${CANARY}`] }
  const cases: ReadonlyArray<readonly [message: string, cleaned: string]> = [
    ['WRONGTYPE Operation against a key', 'WRONGTYPE Operation against a key'],
    [`ERR unknown command 'set', with args beginning with: '${CANARY} in b`, "ERR unknown command 'set'"],
    [`ERR near '${CANARY.slice(0, 6)}'`, 'ERR near …'],
    [`ERR near "${CANARY} in"`, 'ERR near …'],
    [`ERR ${CANARY} in bytes and ${CANARY}`, 'ERR … and …'],
    ["ERR invalid expire time in 'set' command", "ERR invalid expire time in 'set' command"]
  ]
  for (const [message, cleaned] of cases) {
    const members = { command, code: 'ECODE', other: CANARY }
    const error = Object.assign(new Error(message, { cause: CANARY }), members)
    const failure = toRedisError(error)
    t.match(failure, { name: 'RedisError', message: cleaned, command: 'set', code: 'ECODE' })
    t.match(failure.stack, /redis-error\.test\.ts/)
    t.notOk(isTelling(failure), print(failure))
    t.equal(toRedisError(failure), failure)
  }
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:1')
  const both = new AggregateError([refused, refused])
  t.equal(toRedisError(both).message, `${refused.message}, ${refused.message}`)
  const lastNodeError = Object.assign(new Error(`ERR '${CANARY}'`), { command })
  const lost = Object.assign(new Error('all nodes failed'), { lastNodeError })
  t.equal(toRedisError(lost).message, 'all nodes failed (ERR …)')
  for (const odd of [CANARY, undefined, null, { message: CANARY }]) t.notOk(isTelling(toRedisError(odd)))
})
