import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { CallCounter } from '../../../../../src/platform/limits/call-counter.ts'
import { createLocalCallCounter } from '../../../../../src/platform/limits/local-call-counter.ts'
import { createRedisCallCounter } from '../../../../../src/platform/store/backends/redis/call-counter.ts'
import { openRedis } from '../../../../../src/platform/store/backends/redis/connection.ts'
import { checkCallCounter, checkSharedCallCounter } from '../../../../contracts/call-counter-contract.ts'
import { hasRedisServer, startRedisServer, type RedisServer } from '../../../../servers/redis-server.ts'

const RATE = { key: 'a caller', calls: 100, perMs: 60_000 }

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)
  let prefixes = 0

  checkCallCounter(t, async (t) => ({
    counter: (await open(t, server, `contract-${++prefixes}`)).counter,
    async pass (ms) { await sleep(ms) },
    now: () => performance.now()
  }))

  checkSharedCallCounter(t, {
    open: async (t, prefix) => await open(t, server, prefix),
    async openAlone (t) {
      const own = await startRedisServer(t)
      return { ...await open(t, own, 'alone'), server: own }
    },
    readKeys: async (prefix) => (await server.cli('--raw', 'keys', `${prefix}:{calls}:*`)).split('\n')
  })

  t.test('a key expires when its calls count no more', async (t) => {
    const { counter } = await open(t, server, 'expiring')
    await counter.count([{ ...RATE, perMs: 3000 }])
    const [key = ''] = (await server.cli('--raw', 'keys', 'expiring:*')).split('\n')
    const left = Number(await server.cli('--raw', 'pttl', key))
    t.ok(left > 2000 && left <= 3100, `${left} ms`)
  })
}

t.test('a busy process does not take its own delay for silence of Redis', async (t) => {
  const errors: unknown[] = []
  let answer = (_: null) => {}
  const reply = new Promise<null>((resolve) => { answer = resolve })
  const counter = createRedisCallCounter({ callBuffer: async () => await reply }, {
    prefix: 'busy', local: createLocalCallCounter(), onError: (error) => errors.push(error)
  })
  const one = { ...RATE, calls: 1 }
  const counting = [counter.count([one]), counter.count([one])]
  const begin = performance.now()
  while (performance.now() < begin + 400);
  setTimeout(() => answer(null), 100)
  t.strictSame(await Promise.all(counting), [undefined, undefined], 'as Redis says')
  t.strictSame(errors, [])
})

async function open (
  t: Test, { url }: Pick<RedisServer, 'url'>, prefix: string
): Promise<{ readonly counter: CallCounter, readonly errors: unknown[] }> {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  const errors: unknown[] = []
  const counter = createRedisCallCounter(redis.commands, {
    prefix, local: createLocalCallCounter(), onError: (error) => errors.push(error)
  })
  return { counter, errors }
}
