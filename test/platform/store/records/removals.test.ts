import t from 'tap'
import { createMemoryStateStore } from '../../../../src/platform/store/backends/memory/state-store.ts'
import { createRemovals } from '../../../../src/platform/store/records/removals.ts'
import { StoreUnavailable, type StateRecord } from '../../../../src/platform/store/records/state-store.ts'
import { until } from '../../../helpers/deadline.ts'
import { toValue } from '../../../helpers/state-value.ts'

const KEY = { owner: 'o', name: 'n' }

t.test('a record that appears late is deleted, also after failed attempts', async (t) => {
  const store = createMemoryStateStore()
  t.teardown(async () => await store.close())
  let attempts = 0
  const removals = createRemovals({
    ...store,
    async delete (key) {
      attempts++
      if (attempts === 1) throw new StoreUnavailable(new Error('away'))
      if (attempts === 3) await store.create(KEY, toValue('x'), { idleMs: 60_000 }, 1)
      return await store.delete(key)
    }
  }, [1, 1, 1, 1, 1])
  removals.add(KEY)
  await until(() => attempts === 3, 'the attempts')
  await until(async () => (await store.list('o')).size === 0, 'the deletion')
  await new Promise((resolve) => { setTimeout(resolve, 20) })
  t.equal(attempts, 3, 'no attempt follows')
})

t.test('a record of the same name that somebody else has created stays', async (t) => {
  const store = createMemoryStateStore()
  t.teardown(async () => await store.close())
  const removals = createRemovals(store, [1, 1, 1])
  const isOwn = ({ value }: StateRecord) => value.bytes.toString() === 'own'
  await store.create(KEY, toValue('other'), { idleMs: 60_000 }, 1)
  removals.add(KEY, isOwn)
  await new Promise((resolve) => { setTimeout(resolve, 50) })
  const other = await store.peek(KEY)
  t.ok(other)
  await store.replace(KEY, other?.version ?? '', toValue('own'))
  removals.add(KEY, isOwn)
  await until(async () => await store.peek(KEY) === undefined, 'the removal')
})
