import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createMemoryStateStore } from '../../../../../src/platform/store/backends/memory/state-store.ts'
import { checkStateStore } from '../../../../contracts/state-store-contract.ts'
import { until } from '../../../../helpers/deadline.ts'
import { toValue } from '../../../../helpers/state-value.ts'

const MEBIBYTE = 1024 * 1024

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

checkStateStore(t, async (t) => {
  let time = 1_800_000_000_000
  const now = () => time
  const store = createMemoryStateStore({ now })
  t.teardown(async () => await store.close())
  return { store, now, advance (ms) { time += ms } }
})

t.test('the sweep frees the memory of expired records, and keeps used ones', async (t) => {
  let time = 1_800_000_000_000
  const store = createMemoryStateStore({ now: () => time, sweepMs: 5 })
  t.teardown(async () => await store.close())
  const before = await settledBytes()
  const value = Buffer.alloc(MEBIBYTE)
  const keyOf = (i: number) => ({ owner: `o${i % 3}`, name: `n${i}` })
  for (let i = 0; i < 50; i++) await store.create(keyOf(i), toValue(value), { idleMs: 1000 }, 100)
  t.ok(bytes() - before > 50 * MEBIBYTE)
  time += 600
  for (let i = 0; i < 10; i++) await store.read(keyOf(i))
  time += 600
  await until(() => bytes() - before < 15 * MEBIBYTE, 'the memory of 40 records')
  for (let i = 0; i < 10; i++) t.equal((await store.read(keyOf(i)))?.value.bytes.length, MEBIBYTE)
  time += 1000
  await until(() => bytes() - before < 3 * MEBIBYTE, 'the memory of the other 10')
})

t.test('deleting a record frees its memory at once, and so does closing the store', async (t) => {
  const store = createMemoryStateStore()
  const before = await settledBytes()
  const value = Buffer.alloc(MEBIBYTE)
  for (let i = 0; i < 50; i++) {
    await store.create({ owner: 'o', name: 'deleted' }, toValue(value), { idleMs: 86_400_000 }, 100)
    await store.delete({ owner: 'o', name: 'deleted' })
  }
  await until(() => bytes() - before < 5 * MEBIBYTE, 'the memory of deleted records')
  for (let i = 0; i < 20; i++) {
    await store.create({ owner: 'o', name: `n${i}` }, toValue(value), { idleMs: 86_400_000 }, 100)
  }
  t.ok(bytes() - before > 15 * MEBIBYTE)
  await store.close()
  await until(() => bytes() - before < 5 * MEBIBYTE, 'the memory of a closed store')
})

t.test('an open store keeps no process from ending', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
  const before = timers()
  const store = createMemoryStateStore()
  t.teardown(async () => await store.close())
  t.equal(timers(), before)
})

/** The bytes of all buffers after a garbage collection. */
function bytes (): number {
  collect()
  return process.memoryUsage().arrayBuffers
}

/** The same, once the number is stable: buffers are freed a little after a collection. */
async function settledBytes (): Promise<number> {
  let last = bytes()
  for (let unchanged = 0; unchanged < 5;) {
    await pause(20)
    const now = bytes()
    unchanged = now === last ? unchanged + 1 : 0
    last = now
  }
  return last
}
