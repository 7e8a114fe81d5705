// Loads generated catalogs with a fixed seed, as `npm run fuzz` does with any.

import t from 'tap'
import { fuzzCatalogs } from './fuzz-catalogs.ts'

t.test('100 generated catalogs are served, or refused with the file and the place', async (t) => {
  const { served, refused, failures } = await fuzzCatalogs({ seed: 27, catalogs: 100 })
  t.strictSame(failures, [])
  t.equal(served + refused, 100)
  t.ok(served > 5 && refused > 50, `${served} are served`)
})
