import t from 'tap'
import { openToAll } from '../../src/access/authenticator.ts'
import { ANONYMOUS, hasScopes } from '../../src/access/principal.ts'

t.test('grants what asks for nothing to everyone', async (t) => {
  t.ok(hasScopes(ANONYMOUS, []))
})

t.test('grants an anonymous caller no scope', async (t) => {
  t.notOk(hasScopes(ANONYMOUS, ['rates:read']))
  t.equal(ANONYMOUS.subject, undefined)
})

t.test('asks for every one of the scopes, to the letter', async (t) => {
  const principal = { subject: 'ann', scopes: new Set(['rates:read', 'rates:write']) }
  t.ok(hasScopes(principal, ['rates:read']))
  t.ok(hasScopes(principal, ['rates:write', 'rates:read']))
  t.notOk(hasScopes(principal, ['rates:read', 'admin']))
  t.notOk(hasScopes(principal, ['Rates:Read']))
  t.notOk(hasScopes(principal, ['rates']))
})

t.test('is open to all where nobody authenticates: whatever is sent, the caller is anonymous', async (t) => {
  t.equal(await openToAll.authenticate(undefined), ANONYMOUS)
  t.equal(await openToAll.authenticate('Bearer x'), ANONYMOUS)
})
