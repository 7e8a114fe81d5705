import t from 'tap'
import { openLmdbStateStore } from '../../../../src/store/backends/lmdb/state-store.ts'
import { checkDueTimes, checkLostDueTimes } from '../../../contracts/due-times-contract.ts'
import { makeFolder } from '../../../helpers/folder.ts'

checkDueTimes(t, async (t) => {
  let time = 1_800_000_000_000
  const store = openLmdbStateStore(await makeFolder(t), { now: () => time })
  t.teardown(async () => await store.close())
  return { dueTimes: store.dueTimes, pass (ms) { time += ms } }
})

checkLostDueTimes(t, async (t) => {
  const store = openLmdbStateStore(await makeFolder(t))
  await store.close()
  return store.dueTimes
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
