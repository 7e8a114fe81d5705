import t from 'tap'
import { openToAll } from '../../src/access/authentication.ts'
import { ANONYMOUS } from '../../src/access/principal.ts'

t.test('an anonymous caller has no subject and no scopes', async (t) => {
  t.equal(ANONYMOUS.subject, undefined)
  t.equal(ANONYMOUS.scopes.size, 0)
})

t.test('without authentication every caller is anonymous, with any Authorization header', async (t) => {
  t.equal(await openToAll.authenticate(undefined), ANONYMOUS)
  t.equal(await openToAll.authenticate('Bearer x'), ANONYMOUS)
})
