// The broadcast and the log of the LMDB backend, and its prefix.

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { open as openLmdb } from 'lmdb'
import t, { type Test } from 'tap'
import type { OpenedBackend } from '../../../../../src/platform/store/backends/backend.ts'
import { openLmdbBackend } from '../../../../../src/platform/store/backends/lmdb/open.ts'
import { openLmdbStateStore } from '../../../../../src/platform/store/backends/lmdb/state-store.ts'
import { EVENT_LOG_LIMITS, type EventLogLimits } from '../../../../../src/platform/store/changes/event-log.ts'
import { checkBroadcast } from '../../../../contracts/broadcast-contract.ts'
import { checkEventLog } from '../../../../contracts/event-log-contract.ts'
import { makeFolder } from '../../../../helpers/folder.ts'
import { createReadableLog } from '../../../../helpers/log.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'

interface Opening { readonly folder?: string, readonly prefix?: string, readonly limits?: EventLogLimits }

async function open (t: Test, { folder, prefix = 'trivet', limits }: Opening = {}): Promise<OpenedBackend> {
  const { logger: log } = createReadableLog()
  const options = { log, prefix, eventLogLimits: limits ?? EVENT_LOG_LIMITS }
  const backend = await openLmdbBackend(`file:${folder ?? await makeFolder(t)}`, options)
  t.teardown(async () => await backend.close())
  return backend
}

t.test('the broadcast', async (t) => checkBroadcast(t, async () => (await open(t)).broadcast))
t.test('the event log', async (t) => {
  checkEventLog(t, async (limits) => (await open(t, { limits })).eventLog)
})

t.test('services of different prefixes share a folder and no record', async (t) => {
  const folder = await makeFolder(t)
  const key = { owner: 'o', name: 'n' }
  const prefixes = ['trivet', 'shop', 'shop-2']
  // One after the other: a process may open a folder only once.
  for (const prefix of prefixes) {
    const { store, close } = await open(t, { folder, prefix })
    t.equal(await store.read(key), undefined, `nothing is there for ${prefix}`)
    t.equal((await store.list('o')).size, 0)
    t.type(await store.create(key, toValue(prefix), { idleMs: 60_000 }, 1), 'object', 'and nothing counts')
    await close()
  }
  for (const prefix of prefixes) {
    const { store, close } = await open(t, { folder, prefix })
    t.equal(textOf(await store.read(key)), prefix)
    t.strictSame([...(await store.list('o')).keys()], ['n'])
    await close()
  }
})

t.test('the default prefix opens a folder of an earlier release without prefixes', async (t) => {
  const folder = await makeFolder(t)
  const { store, close } = await open(t, { folder })
  await store.create({ owner: 'o', name: 'n' }, toValue('x'), { idleMs: 60_000 }, 1)
  await close()
  const root = openLmdb({ path: folder, noSubdir: false, encoding: 'binary' })
  t.teardown(async () => await root.close())
  t.strictSame([...root.getKeys()], ['due-times', 'expiries', 'headers', 'owners', 'values'])
})

t.test('a created folder in which nothing was kept is removed, with its new parents', async (t) => {
  const parent = await makeFolder(t)
  const folder = join(parent, 'a', 'b')
  const backend = await open(t, { folder })
  t.ok((await readdir(folder)).length > 0)
  await backend.close()
  t.strictSame(await readdir(parent), [])
  await backend.close()
  await mkdir(folder, { recursive: true })
  await (await open(t, { folder })).close()
  t.ok((await readdir(folder)).includes('data.mdb'), 'a folder that was there stays')
})

t.test('a folder in which anything was kept stays', async (t) => {
  const keep: Record<string, (backend: OpenedBackend, folder: string) => unknown> = {
    'a record': async ({ store }) => {
      const key = { owner: 'o', name: 'n' }
      await store.create(key, toValue('x'), { idleMs: 60_000 }, 1)
    },
    'a due time': async ({ dueTimes }) => await dueTimes.set('n', 1, 1),
    'a secret': ({ readKeptSecret }) => readKeptSecret?.(),
    'a file': async (_, folder) => await writeFile(join(folder, 'file'), ''),
    'the databases of another prefix': async (_, folder) => {
      const other = openLmdbStateStore(folder, { prefix: 'shop' })
      await other.close()
    }
  }
  for (const [what, work] of Object.entries(keep)) {
    const folder = join(await makeFolder(t), 'data')
    const backend = await open(t, { folder })
    await work(backend, folder)
    await backend.close()
    t.ok((await readdir(folder)).includes('data.mdb'), what)
  }
})

t.test('a service whose new folder is removed by another one does not start', async (t) => {
  const folder = join(await makeFolder(t), 'data')
  const first = await open(t, { folder })
  const second = openLmdbStateStore(folder)
  t.teardown(async () => await second.close())
  t.equal(second.exclusively(() => 'claimed'), 'claimed')
  await first.close()
  await nextTurn()
  t.throws(() => second.exclusively(() => 'claimed'), { message: /data\.mdb was removed/ })
})
