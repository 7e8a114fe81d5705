// Who may come in, and with which scopes, by claims that are anything.

import t from 'tap'
import {
  claimsIn, recognize, type PeopleRules
} from '../../../../src/features/sign-in/people/people.ts'
import type { Claims } from '../../../../src/platform/access/claims.ts'

const ISSUER = 'https://login.books.example'

function find (claims: Claims, rules: Partial<PeopleRules>) {
  const reasons: string[] = []
  const all = { admit: [], scopes: {}, subjectClaims: ['sub'], ...rules }
  const person = recognize(claims, ISSUER, all, (reason) => reasons.push(reason))
  return { person, reasons }
}

const mayEnter = (claims: Claims, claim: string, ...anyOf: string[]) => {
  return find({ sub: 'a', ...claims }, { admit: [{ claim, anyOf }] }).person !== undefined
}

t.test('a rule holds for a text, a word of it, an item, a boolean or a number', async (t) => {
  t.ok(mayEnter({ team: 'books' }, 'team', 'other', 'books'))
  t.ok(mayEnter({ roles: 'books staff' }, 'roles', 'staff'))
  t.ok(mayEnter({ realm: { groups: 'books staff' } }, 'realm.groups', 'staff'))
  t.ok(mayEnter({ team: 'books staff' }, 'team', 'books staff'))
  t.ok(mayEnter({ groups: ['a', 'b'] }, 'groups', 'b'))
  t.ok(mayEnter({ isStaff: true }, 'isStaff', 'true'))
  t.ok(mayEnter({ level: 3 }, 'level', '3'))
  t.ok(mayEnter({ realm_access: { roles: ['a'] } }, 'realm_access.roles', 'a'))
  t.ok(mayEnter({ 'https://books.example/roles': ['a'] }, 'https://books.example/roles', 'a'))
})

t.test('a rule does not hold for what is missing, nearly the same, or of another form', async (t) => {
  for (const groups of [undefined, null, '', 'STAFF', 'staffer', [], ['a'], [['staff']], { staff: 1 }]) {
    t.notOk(mayEnter({ groups }, 'groups', 'staff'), JSON.stringify(groups))
  }
  t.notOk(mayEnter({ preferred_username: 'mallory admin' }, 'preferred_username', 'admin'))
  t.notOk(mayEnter({ groups_note: 'a admin' }, 'groups_note', 'admin'))
  const email = '"x boss@books.example y"@evil.example'
  t.notOk(mayEnter({ email, email_verified: true }, 'email', 'boss@books.example'))
  t.notOk(mayEnter({}, 'constructor', 'function Object() { [native code] }'))
  t.notOk(mayEnter({}, '__proto__', '[object Object]'))
})

t.test('an address counts only if the provider has verified it', async (t) => {
  for (const verified of [undefined, false, 'true', 1]) {
    t.notOk(mayEnter({ email: 'ada@books.example', email_verified: verified }, 'email', 'ada@books.example'))
  }
  t.ok(mayEnter({ email: 'ada@books.example', email_verified: true }, 'email', 'ada@books.example'))
  t.strictSame(claimsIn({ admit: [{ claim: 'email', anyOf: ['a'] }], scopes: {}, subjectClaims: [] }), [
    'email', 'email_verified'
  ])
})

t.test('all rules of admit must hold, and without any everybody of the issuer comes in', async (t) => {
  const admit = [{ claim: 'a', anyOf: ['1'] }, { claim: 'b', anyOf: ['1'] }]
  t.match(find({ sub: 'x', a: '1', b: '1' }, { admit }).person, { subject: `${ISSUER}|x` })
  t.equal(find({ sub: 'x', a: '1', b: '2' }, { admit }).person, undefined)
  t.match(find({ sub: 'x' }, {}).person, { subject: `${ISSUER}|x`, scopes: new Set() })
})

t.test('a person is all claims of the subject, and nobody without one of them', async (t) => {
  const subjectClaims = ['tid', 'oid']
  t.match(find({ sub: 'x', tid: 't', oid: 'o' }, { subjectClaims }).person, { subject: `${ISSUER}|t|o` })
  for (const claims of [{ tid: 't' }, { oid: 'o', tid: '' }, { oid: 1, tid: 't' }, { oid: [], tid: 't' }]) {
    const { person, reasons } = find({ sub: 'x', ...claims }, { subjectClaims })
    t.equal(person, undefined)
    t.match(reasons, [/does not say who the person is, in the claims tid and oid/])
  }
})

t.test('scopes are for everyone, or by a claim', async (t) => {
  const scopes = {
    read: 'everyone',
    write: { claim: 'groups', anyOf: ['staff'] },
    admin: { claim: 'groups', anyOf: ['admins'] }
  } as const
  t.strictSame([...find({ sub: 'x', groups: ['staff'] }, { scopes }).person?.scopes ?? []], ['read', 'write'])
})

t.test('a claim that the provider left out gives no scope, and the log says so', async (t) => {
  const claims = { sub: 'x', _claim_names: { groups: 'src1' } }
  const scopes = { write: { claim: 'groups', anyOf: ['staff'] } }
  const { person, reasons } = find(claims, { scopes })
  t.equal(person?.scopes.size, 0)
  t.match(reasons, [/left out the claim groups/])
})
