import t from 'tap'
import { openToAll } from '../../../src/platform/access/authentication.ts'
import { ANONYMOUS, askableScopes } from '../../../src/platform/access/principal.ts'

t.test('an anonymous caller has no subject and no scopes', async (t) => {
  t.equal(ANONYMOUS.subject, undefined)
  t.equal(ANONYMOUS.scopes.size, 0)
})

t.test('without authentication every caller is anonymous, with any Authorization header', async (t) => {
  t.equal(await openToAll.authenticate(undefined), ANONYMOUS)
  t.equal(await openToAll.authenticate('Bearer x'), ANONYMOUS)
})

t.test('a client can ask for the scopes of `scope` and `scp`, and not for roles', async (t) => {
  const scopes = new Set(['books:read', 'files', 'librarian', 'Head of books'])
  const claims = { scope: 'books:read other', scp: ['files', 7] }
  t.strictSame(askableScopes({ scopes, claims }), ['books:read', 'files'])
  t.strictSame(askableScopes({ scopes, claims: { roles: ['librarian'] } }), [])
  t.strictSame(askableScopes({ scopes }), ['books:read', 'files', 'librarian'], 'without claims nobody knows')
  t.strictSame(askableScopes(ANONYMOUS), [])
})
