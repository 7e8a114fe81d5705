import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { CallCounter } from '../../../../../src/platform/limits/call-counter.ts'
import { createLocalCallCounter } from '../../../../../src/platform/limits/local-call-counter.ts'
import {
  createPostgresCallCounter
} from '../../../../../src/platform/store/backends/postgres/call-counter.ts'
import { createSweep } from '../../../../../src/platform/store/backends/postgres/sweep.ts'
import { checkCallCounter, checkSharedCallCounter } from '../../../../contracts/call-counter-contract.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../../../../servers/postgres-server.ts'
import { openPool } from './connect.ts'

const RATE = { key: 'a caller', calls: 100, perMs: 60_000 }
/** A busy machine may take longer than the default. */
const PATIENT_MS = 5000

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)
  let prefixes = 0

  checkCallCounter(t, async (t) => ({
    counter: (await open(t, server, `contract-${++prefixes}`)).counter,
    async pass (ms) { await sleep(ms) },
    now: () => performance.now()
  }))

  checkSharedCallCounter(t, {
    open: async (t, prefix) => await open(t, server, prefix, PATIENT_MS),
    async openAlone (t) {
      const own = await startPostgresServer(t)
      return { ...await open(t, own, 'alone'), server: own }
    },
    readKeys: async (prefix) => (await server.sql(`SELECT key FROM ${prefix}.calls`)).map(([key]) => String(key))
  })

  t.test('replicas that count the same keys in other orders do not wait in a circle', async (t) => {
    const replicas = await Promise.all([1, 2, 3].map(async () => await open(t, server, 'circle', PATIENT_MS)))
    const keys = Array.from({ length: 8 }, (_, index) => ({ ...RATE, key: `key-${index}` }))
    await Promise.all(Array.from({ length: 300 }, async (_, index) => {
      await replicas[index % 3]?.counter.count(index % 2 === 0 ? keys : keys.toReversed())
    }))
    t.strictSame(replicas.flatMap(({ errors }) => errors), [])
  })

  t.test('a key is removed when its calls count no more', async (t) => {
    const { counter, pool, names } = await open(t, server, 'expiring')
    await counter.count([{ ...RATE, perMs: 3000 }])
    await counter.count([{ ...RATE, key: 'another', perMs: 60 }])
    const [[left] = []] = await server.sql(
      "SELECT expires_at - date_part('epoch', now()) * 1000 FROM expiring.calls ORDER BY expires_at DESC"
    )
    t.ok(Number(left) > 2000 && Number(left) <= 3150, `${String(left)} ms`)
    await sleep(100)
    const sweep = createSweep(pool, names, { onError: t.error })
    t.teardown(async () => await sweep.close())
    await sweep.sweep()
    t.equal((await server.sql('SELECT FROM expiring.calls')).length, 1)
  })

  t.test('the wait is exact for a role that gets few digits', async (t) => {
    const url = server.url.replace('//postgres@', '//rough@')
    await server.sql('CREATE ROLE rough LOGIN SUPERUSER; ALTER ROLE rough SET extra_float_digits = -15')
    const { counter } = await open(t, { url }, 'rough', PATIENT_MS)
    const one = { ...RATE, calls: 1, perMs: 58_400 }
    await counter.count([one])
    const { waitMs = 0 } = await counter.count([one]) ?? {}
    t.ok(waitMs > 55_000 && waitMs % 1000 !== 0 && waitMs < 60_400, `${waitMs} ms`)
  })

  t.test('a call that is refused leaves no key for ever', async (t) => {
    const { counter, errors } = await open(t, server, 'refused', PATIENT_MS)
    const [full, other] = [{ ...RATE, calls: 1 }, { ...RATE, key: 'other', perMs: 3000 }]
    await counter.count([full])
    t.match(await counter.count([full, other]), { rate: full })
    const lives = await server.sql(`
      SELECT expires_at - date_part('epoch', clock_timestamp()) * 1000 FROM refused.calls ORDER BY 1`)
    t.equal(lives.length, 2)
    t.ok(lives.every(([life]) => Number(life) > 0), String(lives))
    t.ok(Number(lives[0]?.[0]) <= 3200 && Number(lives[1]?.[0]) <= 63_200, String(lives))
    t.strictSame(errors, [])
  })
}

async function open (
  t: Test, { url }: Pick<PostgresServer, 'url'>, prefix: string, deadlineMs?: number
) {
  const { pool, names } = await openPool(t, url, prefix)
  const errors: unknown[] = []
  const counter: CallCounter = createPostgresCallCounter(pool, {
    names,
    local: createLocalCallCounter(),
    onError: (error) => errors.push(error),
    ...deadlineMs !== undefined && { deadlineMs }
  })
  return { counter, errors, pool, names }
}
