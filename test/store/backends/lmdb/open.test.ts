// The broadcast and the log of the LMDB backend, and its prefix.

import { open as openLmdb } from 'lmdb'
import t, { type Test } from 'tap'
import type { OpenedBackend } from '../../../../src/store/backends/backend.ts'
import { openLmdbBackend } from '../../../../src/store/backends/lmdb/open.ts'
import { EVENT_LOG_LIMITS, type EventLogLimits } from '../../../../src/store/changes/event-log.ts'
import { checkBroadcast } from '../../../contracts/broadcast-contract.ts'
import { checkEventLog } from '../../../contracts/event-log-contract.ts'
import { makeFolder } from '../../../helpers/folder.ts'
import { createReadableLog } from '../../../helpers/log.ts'
import { textOf, toValue } from '../../../helpers/state-value.ts'

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
