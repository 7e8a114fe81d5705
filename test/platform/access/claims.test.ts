import t from 'tap'
import { readClaim, toPrincipal, type Claims } from '../../../src/platform/access/claims.ts'
import { isAnonymous } from '../../../src/platform/access/principal.ts'
import { PRESETS, type TokenRules } from '../../../src/platform/access/token-rules.ts'

const RULES: TokenRules = {
  ...PRESETS.standard, scopeClaims: ['scope', 'realm_access.roles', 'https://books.example/roles']
}
const read = (claims: Claims, rules: Partial<TokenRules> = {}) => {
  return toPrincipal(claims, 'https://issuer.example', { ...RULES, ...rules })
}

t.test('a claim is found by its whole name first, then by its path', async (t) => {
  const claims = { 'a.b': 'whole', a: { b: 'path', c: { d: 1 } }, 'https://x.example/roles': ['r'] }
  t.equal(readClaim(claims, 'a.b'), 'whole')
  t.equal(readClaim(claims, 'a.c.d'), 1)
  t.strictSame(readClaim(claims, 'https://x.example/roles'), ['r'])
  for (const name of ['a.x', 'a.b.c', 'a.c.d.e', 'x', '', 'a.', '.a']) {
    t.equal(readClaim(claims, name), undefined, name)
  }
})

t.test('what objects inherit is no claim', async (t) => {
  const claims = JSON.parse('{"sub": "ada", "list": ["x"], "__proto__": {"scope": "admin"}}')
  for (const name of ['constructor', 'toString', 'sub.length', 'list.length', 'list.0', 'constructor.name']) {
    t.equal(readClaim(claims, name), undefined, name)
  }
  const principal = read(claims)
  t.equal(principal.scopes.size, 0)
  t.equal(Object.getPrototypeOf(principal.claims), Object.prototype)
})

t.test('the scopes of all claims are joined, from texts and lists', async (t) => {
  t.strictSame([...read({
    sub: 'ada',
    scope: ' books:read  books:write ',
    realm_access: { roles: ['librarian', 'books:read'] },
    'https://books.example/roles': ['Head of books']
  }).scopes], ['books:read', 'books:write', 'librarian', 'Head of books'])
})

t.test('scopes of other types are ignored', async (t) => {
  for (const scope of [1, true, null, {}, { 0: 'admin' }, [1, null, {}, ['admin'], '']]) {
    t.strictSame([...read({ sub: 'ada', scope }).scopes], [], JSON.stringify(scope))
  }
})

t.test('the first claim with a text is the subject, and the client', async (t) => {
  const rules = { subjectClaims: ['uid', 'sub'], clientClaims: ['azp', 'appid'] }
  t.match(read({ uid: 'u', sub: 's', azp: 'z', appid: 'p' }, rules), { subject: 'u', clientId: 'z' })
  t.match(read({ uid: '', sub: 's', azp: 7, appid: 'p' }, rules), { subject: 's', clientId: 'p' })
  t.equal(read({ sub: 's' }).issuer, 'https://issuer.example')
})

t.test('a token without a subject acts for its client alone', async (t) => {
  const principal = read({ client_id: 'machine' })
  t.match(principal, { subject: undefined, clientId: 'machine' })
  t.notOk(isAnonymous(principal))
  t.match(
    read({ client_id: 'machine', sub: 'machine' }, { subjectClaims: ['email'] }),
    { subject: undefined, clientId: 'machine' }
  )
})

t.test('a token without a name is refused, so that nobody with a token looks anonymous (265)', async (t) => {
  for (const claims of [{}, { sub: '' }, { client_id: '' }, { client_id: null, azp: 'other' }]) {
    t.throws(() => read(claims), { code: 'invalid_token' }, JSON.stringify(claims))
  }
})

t.test('subjects that lack the claim with their name are not taken for their client', async (t) => {
  t.throws(() => read({ sub: 'ada', client_id: 'app' }, { subjectClaims: ['email'] }), {
    code: 'invalid_token', message: 'the token has a subject, and none of the claims email'
  })
  t.throws(() => read({ sub: 7, client_id: 'app' }), { code: 'invalid_token' })
})

t.test('a token that is bound to a key is no bearer token', async (t) => {
  for (const cnf of [{ jkt: 'x' }, { 'x5t#S256': 'x' }, 'x', null]) {
    t.throws(() => read({ sub: 'ada', cnf }), { code: 'invalid_token' })
  }
})

t.test('a fixed claim has one of its values, or is absent', async (t) => {
  const rules = { fixedClaims: { typ: ['Bearer'] } }
  t.equal(read({ sub: 'ada', typ: 'Bearer' }, rules).subject, 'ada')
  t.equal(read({ sub: 'ada' }, rules).subject, 'ada')
  for (const typ of ['ID', 'Refresh', 'bearer', ['Bearer'], null]) {
    t.throws(() => read({ sub: 'ada', typ }, rules), { code: 'invalid_token' }, JSON.stringify(typ))
  }
})

t.test('no request can change the claims that others see, however deep', async (t) => {
  const deep = JSON.parse(`${'['.repeat(6000)}${']'.repeat(6000)}`)
  const { claims } = read({ sub: 'ada', tenant: { id: 1 }, deep })
  t.throws(() => { (claims as { sub: string }).sub = 'eve' }, TypeError)
  t.throws(() => { (claims as { tenant: { id: number } }).tenant.id = 2 }, TypeError)
})

t.test('the expiry is in milliseconds, and a time that a Date can have', async (t) => {
  t.equal(read({ sub: 'ada', exp: 1.5 }).expiresAt, 1500)
  t.equal(read({ sub: 'ada', exp: 1e300 }).expiresAt, 8.64e15)
  t.equal(read({ sub: 'ada' }).expiresAt, undefined)
})

t.test('refresh tokens, ID tokens and tokens that need a proof are no bearer tokens (266)', async (t) => {
  for (const mark of [
    { token_use: 'id' }, { token_use: 'refresh' }, { token_type: 'DPoP' }, { typ: 'Offline' },
    { at_hash: 'x' }, { c_hash: 'x' }, { token_use: 7 }
  ]) {
    t.throws(() => read({ sub: 'ada', ...mark }), { code: 'invalid_token' }, JSON.stringify(mark))
  }
  for (const mark of [{ token_use: 'access' }, { token_type: 'Bearer' }, { typ: 'Bearer' }, { typ: 'JWT' }]) {
    t.equal(read({ sub: 'ada', ...mark }).subject, 'ada', JSON.stringify(mark))
  }
  t.equal(read({ sub: 'ada', at_hash: 'x' }, PRESETS.google).subject, 'ada')
  t.throws(() => read({ oid: 'ada', sub: 'ada' }, PRESETS.entra), { message: /none of azp, appid/ })
  t.equal(read({ oid: 'ada', appid: 'app' }, PRESETS.entra).subject, 'ada')
})
