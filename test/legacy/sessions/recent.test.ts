import t from 'tap'
import { createRecent } from '../../../src/legacy/sessions/recent.ts'
import { until } from '../../helpers/deadline.ts'

t.test('keeps recently used entries and drops the others on a timer', async (t) => {
  const recent = createRecent<number, string>({ max: 10, idleMs: 100 })
  t.teardown(() => recent.close())
  let most = 0
  let kept = true
  for (let key = 0; key < 10_000; key++) {
    recent.set(key, String(key))
    kept &&= recent.get(0) === '0'
    most = Math.max(most, recent.size)
  }
  t.ok(kept, 'what is asked for again and again stays')
  t.ok(most <= 20, `${most} at most`)
  t.equal(recent.get(9999), '9999')
  recent.delete(9999)
  t.equal(recent.get(9999), undefined)
  await until(() => recent.size === 0, 'the rest to be let go of')
})
