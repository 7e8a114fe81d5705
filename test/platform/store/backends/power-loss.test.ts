// What the folders of state and of files, a Redis and a PostgreSQL have after the machine has lost its power.

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openFolderStorage } from '../../../../src/features/files/folder/open.ts'
import { createStorageKey } from '../../../../src/features/files/storage.ts'
import { openLmdbStateStore } from '../../../../src/platform/store/backends/lmdb/state-store.ts'
import type { StateStore } from '../../../../src/platform/store/records/state-store.ts'
import { textOf, toValue } from '../../../helpers/state-value.ts'
import { hasPostgresServer, startPostgresServer } from '../../../servers/postgres-server.ts'
import { hasRedisServer, startRedisServer } from '../../../servers/redis-server.ts'
import { openSmallDisk } from '../../../servers/small-disk.ts'
import { openStore } from './postgres/connect.ts'
import { connect } from './redis/connect.ts'

const LIFETIME = { idleMs: 3_600_000 }
const keyOf = (index: number) => ({ owner: 'o', name: `n${index}` })

function openFolder (t: Test, folder: string): StateStore {
  const store = openLmdbStateStore(folder)
  t.teardown(async () => await store.close())
  return store
}

t.test('acknowledged writes to a folder survive the loss of power', async (t) => {
  await checkLoss(t, async (folder) => openFolder(t, join(folder, 'state')))
})

if (hasRedisServer(t)) {
  t.test('acknowledged writes to a Redis with appendfsync always survive the loss of power', async (t) => {
    await checkLoss(t, async (folder) => {
      const server = await startRedisServer(t, { isDurable: true, folder })
      return await connect(t, server.url)
    })
  })
}

if (hasPostgresServer(t)) {
  t.test('acknowledged writes to PostgreSQL survive the loss of power', { timeout: 60_000 }, async (t) => {
    let isAfter = false
    await checkLoss(t, async (folder) => {
      const server = await startPostgresServer(t, { isDurable: true, folder, isKept: isAfter })
      isAfter = true
      return await openStore(t, server.url)
    })
  })
}

/** @param open opens a store whose files are on this disk. */
async function checkLoss (t: Test, open: (folder: string) => Promise<StateStore>): Promise<void> {
  const disk = await openSmallDisk(t)
  if (disk === undefined) return
  const store = await open(disk.folder)
  const write = async (index: number) => {
    const created = await store.create(keyOf(index), toValue('created'), LIFETIME, 1000)
    if (typeof created === 'string') throw new Error(created)
    if (index % 3 === 0) return 'created'
    if (index % 3 === 1) await store.replace(keyOf(index), created.version, toValue('replaced'))
    else await store.delete(keyOf(index))
    return index % 3 === 1 ? 'replaced' : undefined
  }
  const expected: Array<string | undefined> = []
  // A busy machine does not write all of them in the time of one call.
  while (expected.length < 300) {
    const next = Array.from({ length: 30 }, (_, index) => expected.length + index)
    expected.push(...await Promise.all(next.map(write)))
  }
  const after = await open(await disk.losePower())
  const values = await Promise.all(expected.map(async (_, index) => textOf(await after.read(keyOf(index)))))
  t.strictSame(values, expected)
}

t.test('a file that was kept in a folder survives the loss of power', async (t) => {
  const disk = await openSmallDisk(t)
  if (disk === undefined) return
  const storage = await openFolderStorage(join(disk.folder, 'files'))
  const key = createStorageKey(Date.now() + 3_600_000)
  await storage.write(key, (async function * () { yield Buffer.from('kept') })())
  const after = await openFolderStorage(join(await disk.losePower(), 'files'))
  const file = await after.read(key)
  t.equal((await file?.toArray())?.join(''), 'kept')
})
