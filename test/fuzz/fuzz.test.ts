// Fuzzes the service with a fixed seed, as `npm run fuzz` does with any.

import t from 'tap'
import { fuzz } from './run.ts'

t.test('20,000 generated requests find nothing', async (t) => {
  const { sent, failures, statuses } = await fuzz({ seed: 27, requests: 20_000 })
  t.equal(sent, 20_000)
  t.strictSame(failures, [])
  // A generator whose requests are all refused would find nothing either.
  const counts = [...statuses].filter(([kind]) => kind.endsWith(': 200'))
  t.ok(counts.reduce((sum, [, count]) => sum + count, 0) > 6000, 'a third of the requests is served')
})
