import t from 'tap'
import { readClaim } from '../../src/access/claims.ts'

t.test('a claim is found by its whole name first, then by its path', async (t) => {
  const claims = { 'a.b': 'whole', a: { b: 'path', c: { d: 1 } }, 'https://x.example/roles': ['r'] }
  t.equal(readClaim(claims, 'a.b'), 'whole')
  t.equal(readClaim(claims, 'a.c.d'), 1)
  t.strictSame(readClaim(claims, 'https://x.example/roles'), ['r'])
  for (const name of ['a.x', 'a.b.c', 'a.c.d.e', 'x', '', 'a.', '.a']) {
    t.equal(readClaim(claims, name), undefined, name)
  }
})
