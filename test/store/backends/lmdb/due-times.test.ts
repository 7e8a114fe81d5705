import t from 'tap'
import { openLmdbStateStore } from '../../../../src/store/backends/lmdb/state-store.ts'
import { checkDueTimes } from '../../../contracts/due-times-contract.ts'
import { makeFolder } from '../../../helpers/folder.ts'

checkDueTimes(t, async (t) => {
  let time = 1_800_000_000_000
  const store = openLmdbStateStore(await makeFolder(t), { now: () => time })
  t.teardown(async () => await store.close())
  return { dueTimes: store.dueTimes, pass (ms) { time += ms } }
})

t.test('entries survive the process, and are apart from those of another prefix', async (t) => {
  const folder = await makeFolder(t)
  const first = openLmdbStateStore(folder)
  await first.dueTimes.set('kept', 0, 0)
  await first.close()
  const second = openLmdbStateStore(folder)
  const other = openLmdbStateStore(folder, { prefix: 'other' })
  t.teardown(async () => await Promise.all([second.close(), other.close()]))
  t.strictSame((await other.dueTimes.take(10, 1000)).entries, [])
  t.strictSame((await second.dueTimes.take(10, 1000)).entries, ['kept'])
})

t.test('a closed store rejects', async (t) => {
  const store = openLmdbStateStore(await makeFolder(t))
  await store.close()
  await t.rejects(store.dueTimes.take(1, 1000), { name: 'StoreUnavailable' })
  await t.rejects(store.dueTimes.peek(1, 0), { name: 'StoreUnavailable' })
  await t.rejects(store.dueTimes.list(undefined, 1), { name: 'StoreUnavailable' })
  await t.rejects(store.dueTimes.set('a', 1000, 0), { name: 'StoreUnavailable' })
})
