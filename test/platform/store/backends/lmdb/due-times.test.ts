import t from 'tap'
import { replaceTime } from '../../../../../src/base/time.ts'
import { openLmdbStateStore } from '../../../../../src/platform/store/backends/lmdb/state-store.ts'
import { checkDueTimes, checkLostDueTimes } from '../../../../contracts/due-times-contract.ts'
import { makeFolder } from '../../../../helpers/folder.ts'

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

t.test('a clock that is set back makes no entry late, and one that is set forward counts', async (t) => {
  let [wall, monotonic] = [1_800_000_000_000, 5000]
  t.teardown(replaceTime({ now: () => wall, monotonic: () => monotonic }))
  const { dueTimes, close } = openLmdbStateStore(await makeFolder(t))
  t.teardown(close)
  const pass = (ms: number) => { [wall, monotonic] = [wall + ms, monotonic + ms] }
  const take = async () => (await dueTimes.take(10, 3_600_000)).entries
  await dueTimes.set('early', 3000, 0)
  await dueTimes.set('late', 60_000, 0)
  wall -= 3_600_000
  pass(2999)
  t.strictSame(await take(), [])
  pass(1)
  t.strictSame(await take(), ['early'])
  wall += 3_600_000
  pass(1000)
  t.strictSame(await take(), [])
  // The machine slept.
  wall += 57_000
  t.strictSame(await take(), ['late'])
})
