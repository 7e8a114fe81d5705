import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { openRedis } from '../../../../../src/platform/store/backends/redis/connection.ts'
import { createRedisEventLog } from '../../../../../src/platform/store/backends/redis/event-log.ts'
import { checkEventLog } from '../../../../contracts/event-log-contract.ts'
import { hasRedisServer, startRedisServer } from '../../../../servers/redis-server.ts'

interface Proxy {
  readonly port: number
  /** Passes this many further bytes to Redis, and then closes all connections. */
  cutAfter (bytes: number): void
}

async function startProxy (t: Test, redisPort: number): Promise<Proxy> {
  let left = Infinity
  const proxy = createServer((socket) => {
    const redis = connect(redisPort, '127.0.0.1')
    const end = () => {
      socket.destroy()
      redis.end()
    }
    socket.on('data', (bytes) => {
      redis.write(bytes.subarray(0, left))
      left -= bytes.length
      if (left <= 0) end()
    })
    redis.on('data', (bytes) => { socket.write(bytes) })
    for (const side of [socket, redis]) side.on('error', end).on('close', end)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => { proxy.close() })
  return { port: (proxy.address() as AddressInfo).port, cutAfter (bytes) { left = bytes } }
}

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)
  const redis = openRedis(server.url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)

  checkEventLog(t, async (limits) => createRedisEventLog(redis.commands, { prefix: 'trivet', ...limits }))

  t.test('every stream expires, even after an interrupted append', { timeout: 60_000 }, async (t) => {
    const proxy = await startProxy(t, server.port)
    const found: string[] = []
    for (let bytes = 1; bytes < 400; bytes += 10) {
      proxy.cutAfter(Infinity)
      const client = new Redis({ port: proxy.port, retryStrategy: () => null }).on('error', () => {})
      await once(client, 'ready')
      proxy.cutAfter(bytes)
      const log = createRedisEventLog(client, { prefix: 'trivet', maxEvents: 5, ttlMs: 60_000 })
      const closed = once(client, 'end')
      await log.append(`s.${bytes}`, { position: 1, text: 'x' }).then(() => { client.disconnect() }, () => {})
      await closed
      const ttl = Number(await server.cli('pttl', `trivet:stream:{s.${bytes}}`))
      found.push(ttl === -2 ? 'nothing' : ttl === -1 ? 'a stream for ever' : 'a stream')
    }
    t.strictSame([...new Set(found)], ['nothing', 'a stream'])
  })

  t.test('the streams of one process have a limit together: the oldest are deleted', async (t) => {
    const limits = { maxEvents: 5, ttlMs: 60_000, maxBytes: 1000 }
    const log = createRedisEventLog(redis.commands, { prefix: 'bounded', ...limits })
    const append = async (stream: string, position: number, length: number) => {
      await log.append(stream, { position, text: 'x'.repeat(length) })
    }
    const kept = async () => (await server.cli('keys', 'bounded:*')).split('\n').toSorted()
      .map((key) => /\{(.*)\}/.exec(key)?.[1])
    for (let stream = 1; stream <= 30; stream++) await append(`s${stream + 100}`, 1, 300)
    t.strictSame(await kept(), ['s128', 's129', 's130'])
    await append('s128', 2, 300)
    t.strictSame(await kept(), ['s128', 's130'], 'the stream whose last event is the oldest is deleted')
    // Redis drops the first events of a long stream, so they do not count.
    for (let position = 1; position <= 100; position++) await append('long', position, 60)
    t.strictSame(await kept(), ['long', 's128'])
    await append('huge', 1, 5000)
    t.strictSame(await kept(), ['huge'], 'one event may be larger than the limit')
  })
}
