import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { CallCounter } from '../../../../src/limits/call-counter.ts'
import { createLocalCallCounter } from '../../../../src/limits/local-call-counter.ts'
import { createRedisCallCounter } from '../../../../src/store/backends/redis/call-counter.ts'
import { openRedis } from '../../../../src/store/backends/redis/connection.ts'
import { checkCallCounter } from '../../../contracts/call-counter-contract.ts'
import { VirtualTime } from '../../../helpers/virtual-time.ts'
import { hasRedisServer, startRedisServer, type RedisServer } from '../../../servers/redis-server.ts'

const RATE = { key: 'a caller', calls: 100, perMs: 60_000 }

t.test('while Redis is silent a call soon counts by itself', async (t) => {
  const time = new VirtualTime(t)
  const begin = time.now
  const errors: unknown[] = []
  const counter = createRedisCallCounter({ callBuffer: async () => await new Promise(() => {}) }, {
    prefix: 'silent', local: createLocalCallCounter(), onError: (error) => errors.push(error)
  })
  const one = { ...RATE, calls: 1 }
  t.equal(await time.during(Promise.resolve(counter.count([one])), 2000), undefined)
  t.match(await time.during(Promise.resolve(counter.count([one])), 2000), { rate: one })
  t.equal(time.now - begin, 600)
  t.match(errors, [{ message: 'calls were not counted within 300 ms' }, {}])
})

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

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)
  let prefixes = 0

  checkCallCounter(t, async (t) => ({
    counter: (await open(t, server, `contract-${++prefixes}`)).counter,
    async pass (ms) { await sleep(ms) },
    now: () => performance.now()
  }))

  t.test('three replicas count together: of 1,000 calls at once exactly 100 count', async (t) => {
    const replicas = await Promise.all([1, 2, 3].map(async () => await open(t, server, 'together')))
    const answers = await Promise.all(Array.from(
      { length: 1000 }, async (_, index) => await replicas[index % 3]?.counter.count([RATE])
    ))
    t.equal(answers.filter((used) => used === undefined).length, 100)
  })

  t.test('services with other prefixes do not count together, and no key says who called', async (t) => {
    for (const prefix of ['one', 'two']) {
      const { counter } = await open(t, server, prefix)
      t.equal(await counter.count([{ ...RATE, key: '192.0.2.7', calls: 1 }]), undefined, prefix)
    }
    const keys = (await server.cli('--raw', 'keys', '*')).split('\n')
    t.ok(keys.some((key) => key.startsWith('one:{calls}:')))
    t.notOk(keys.some((key) => key.includes('192.0.2.7')))
  })

  t.test('a key expires when its calls count no more', async (t) => {
    const { counter } = await open(t, server, 'expiring')
    await counter.count([{ ...RATE, perMs: 3000 }])
    const [key = ''] = (await server.cli('--raw', 'keys', 'expiring:*')).split('\n')
    const left = Number(await server.cli('--raw', 'pttl', key))
    t.ok(left > 2000 && left <= 3100, `${left} ms`)
  })

  t.test('while Redis is away the replica counts alone, at once', async (t) => {
    const own = await startRedisServer(t)
    const { counter, errors } = await open(t, own, 'away')
    for (let i = 0; i < 50; i++) await counter.count([RATE])
    t.strictSame(errors, [])
    await own.kill()
    const answers: unknown[] = []
    for (let i = 0; i < 150; i++) answers.push(await counter.count([RATE]))
    t.equal(answers.filter((used) => used === undefined).length, 50, 'with those that Redis admitted')
    t.ok(errors.length > 0, 'and says so')
  })
}

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
