// The contract of every state store whose server can be away, in addition to that of all stores.

import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { StoreUnavailable, type StateStore } from '../../src/platform/store/records/state-store.ts'
import { until, within } from '../helpers/deadline.ts'
import { textOf, toValue } from '../helpers/state-value.ts'
import type { StoppableServer } from '../servers/stoppable-server.ts'

const KEY = { owner: 'o', name: 'counter' }
const OTHER = { owner: 'o', name: 'other' }
const LIFETIME = { idleMs: 600_000 }
/** A call that takes longer counts as hanging, in milliseconds. */
const QUICK_MS = 2000

export interface ServedStore {
  /** Starts a server that keeps what it has acknowledged, also in a crash. */
  startServer (t: Test): Promise<StoppableServer>
  open (t: Test, url: string): Promise<StateStore>
}

export const isThere = async (store: StateStore) => await store.check().then(() => true, () => false)

export function checkStoreOutages (t: Test, { startServer, open }: ServedStore): void {
  t.test('calls without the server reject quickly, and no data is lost', { timeout: 120_000 }, async (t) => {
    const server = await startServer(t)
    const store = await open(t, server.url)
    const first = await create(store)
    const record = await store.replace(KEY, first, toValue('1'))
    const { kill, stop, restart, freeze, thaw } = server
    const failures = [[kill, restart], [freeze, thaw], ...stop === undefined ? [] : [[stop, restart]]]
    for (const [fail, recover] of failures) {
      await fail?.()
      await allRejectInTime(t, store)
      await recover?.()
      await until(async () => await isThere(store), 'the server to be found again', 10_000)
      t.equal((await store.read(KEY))?.version, record?.version)
      t.equal(textOf(await store.read(KEY)), '1')
    }
  })

  t.test('no acknowledged change is lost or doubled in a crash', { timeout: 60_000 }, async (t) => {
    const server = await startServer(t)
    const store = await open(t, server.url)
    await create(store)
    const counts = { acknowledged: 0, unknown: 0 }
    const over = new AbortController()
    const incrementing = Promise.all(Array.from({ length: 20 }, async () => {
      while (!over.signal.aborted) {
        const record = await store.read(KEY).catch(async () => await pause(5))
        if (record === undefined) continue
        const replacing = store.replace(KEY, record.version, toValue(String(Number(textOf(record)) + 1)))
        await replacing.then((replaced) => {
          if (replaced !== undefined) counts.acknowledged++
        }, () => { counts.unknown++ })
      }
    }))
    await until(() => counts.acknowledged > 100, 'increments before the crash', 20_000)
    await server.kill()
    await server.restart()
    const before = counts.acknowledged
    await until(() => counts.acknowledged > before + 100, 'increments after it', 20_000)
    over.abort()
    await incrementing
    const count = Number(textOf(await store.read(KEY)))
    const { acknowledged, unknown } = counts
    t.ok(count >= acknowledged && count <= acknowledged + unknown, `${count} of ${JSON.stringify(counts)}`)
  })

  t.test('calls to a hanging server reject soon, later ones at once', { timeout: 60_000 }, async (t) => {
    const server = await startServer(t)
    const store = await open(t, server.url)
    await store.check()
    server.freeze()
    const calls = Array.from({ length: 500 }, async (_, index) => (
      await store.read({ owner: 'o', name: `n${index}` }).catch((error: unknown) => error)
    ))
    const failures = await within(Promise.all(calls), 'all answers', QUICK_MS)
    t.ok(failures.every((error) => error instanceof StoreUnavailable))
    const isAtOnce = async () => {
      const started = performance.now()
      await t.rejects(store.read(KEY), StoreUnavailable)
      return performance.now() - started < 50
    }
    await until(isAtOnce, 'the connections to be given up', 10_000)
    server.thaw()
    await until(async () => await isThere(store), 'the server to be found again', 10_000)
  })
}

async function create (store: StateStore): Promise<string> {
  const record = await store.create(KEY, toValue('0'), LIFETIME, 10)
  if (typeof record === 'string') throw new Error(record)
  return record.version
}

async function allRejectInTime (t: Test, store: StateStore): Promise<void> {
  const acts: ReadonlyArray<() => Promise<unknown>> = [
    async () => await store.read(KEY), async () => await store.peek(KEY), async () => await store.check(),
    async () => await store.replace(KEY, '1', toValue('9')), async () => await store.confirm(KEY, '1'),
    async () => await store.create(KEY, toValue('9'), LIFETIME, 10), async () => await store.delete(OTHER),
    async () => await store.list('o')
  ]
  for (const act of acts) {
    await t.rejects(within(act(), 'an answer', QUICK_MS), { name: 'StoreUnavailable' })
  }
}
