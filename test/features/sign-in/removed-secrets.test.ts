// Secrets are replaced one by one: what a secret that is removed had sealed locks nobody out.

import t from 'tap'
import { createGrantRecords } from '../../../src/features/sign-in/grants/grant-records.ts'
import { createProviderTokens } from '../../../src/features/sign-in/grants/provider-tokens.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import { createReadableLog } from '../../helpers/log.ts'

const DAY_MS = 86_400_000

async function createGrant () {
  const store = createMemoryStateStore()
  const grants = createGrantRecords(store, { idleMs: DAY_MS })
  const log = createReadableLog()
  const openWith = (...secrets: readonly string[]) => createProviderTokens({
    store,
    sealer: createSealer(secrets),
    grants,
    identityProvider: {
      issuer: 'https://login.example',
      renew: async () => { throw new Error('there is no refresh token') }
    },
    rules: { admit: [], scopes: {}, subjectClaims: ['sub'] },
    log: log.logger,
    maxAgeMs: DAY_MS
  })
  const id = grants.newId('alice')
  const person = { claims: { sub: 'alice' }, tokens: { accessToken: 'access' } }
  const about = { clientName: 'Test', createdAt: Date.now() }
  await grants.create(id, { grant: {}, about, ...openWith('old').begin(id, person) })
  return { id, grants, log, openWith }
}

t.test('a use seals with the first secret what no renewal does, so that the old secret can go', async (t) => {
  const { id, openWith } = await createGrant()
  const person = { subject: 'https://login.example|alice' }
  t.match(await openWith('new', 'old').vouch(id), person)
  t.match(await openWith('new').vouch(id), person)
  t.match(await openWith('new').read(id), { tokens: { accessToken: 'access' } })
})

t.test('without the secret the person signs in again, and the log says why', async (t) => {
  const { id, grants, log, openWith } = await createGrant()
  t.equal(await openWith('new').vouch(id), undefined)
  t.match(log.text(), /no secret opens the tokens of a grant/)
  t.ok(await grants.isLive(id), 'a replica with the secret may still serve it')
  await t.rejects(openWith('new').read(id), { name: 'AuthenticationUnavailable' })
})
