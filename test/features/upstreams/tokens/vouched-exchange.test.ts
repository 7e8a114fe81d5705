// Exchanges for callers for whom an issuer of this process vouches, beside those for all others.

import t from 'tap'
import { NothingToExchange } from '../../../../src/features/upstreams/tokens/token-exchange.ts'
import {
  withVouchingIssuer, type CallerExchange
} from '../../../../src/features/upstreams/tokens/vouched-exchange.ts'
import type { Principal } from '../../../../src/platform/access/principal.ts'

const ISSUER = 'http://127.0.0.1:3000/dev'
const PICKED: Principal = { issuer: ISSUER, subject: 'ada', scopes: new Set() }
const STRANGER: Principal = { issuer: 'https://login.example', subject: 'ada', scopes: new Set() }
const TARGET = { audience: 'https://crm.example', scopes: ['crm:read'] }

const desk = {
  issuer: ISSUER,
  vouchesFor: ({ issuer }: Principal) => issuer === ISSUER || issuer === undefined,
  exchange: async ({ subject }: Principal, audience: string, scopes: readonly string[], seconds: number) => (
    JSON.stringify([subject, audience, scopes, seconds])
  )
}

t.test('makes the token of a picked caller, and asks nobody', async (t) => {
  const exchange = withVouchingIssuer(desk, undefined)
  t.equal(await exchange.tokenFor(PICKED, TARGET), '["ada","https://crm.example",["crm:read"],300]')
  const resource = { resource: 'https://hr.example' }
  t.match(await exchange.tokenFor(PICKED, resource), '["ada","https://hr.example",[],300]')
  const scopes = ['api://crm/.default']
  t.match(await exchange.tokenFor(PICKED, { scopes }), '["ada","api://crm",["api://crm/.default"],300]')
  t.equal(exchange.forget(PICKED, TARGET, 'any'), false, 'another token would be refused too')
  await t.rejects(async () => await exchange.tokenFor({ scopes: new Set() }, TARGET), NothingToExchange)
})

t.test('keeps a token for a task, which counts for a day', async (t) => {
  const kept = await withVouchingIssuer(desk, undefined).exchangeToKeep(PICKED, TARGET)
  t.match(kept, { issuer: ISSUER, target: '["https://crm.example",null]', accessToken: /,86400\]$/ })
  t.ok(kept.expiresAt > Date.now() + 86_000_000)
})

t.test('leaves other callers to the exchange of the service', async (t) => {
  const none = withVouchingIssuer(desk, undefined)
  t.throws(() => none.tokenFor(STRANGER, TARGET), NothingToExchange)
  t.equal(none.forget(STRANGER, TARGET, 'any'), false)
  await t.rejects(none.exchangeToKeep(STRANGER, TARGET), NothingToExchange)
  const kept = { issuer: 'https://login.example', target: '', accessToken: 'kept', expiresAt: 0 }
  const other: CallerExchange = {
    tokenFor: () => 'real', forget: () => true, exchangeToKeep: async () => kept, renew: async () => kept
  }
  const both = withVouchingIssuer(desk, other)
  t.equal(both.tokenFor(STRANGER, TARGET), 'real')
  t.equal(both.forget(STRANGER, TARGET, 'any'), true)
  t.equal(both.forget(PICKED, TARGET, 'any'), false)
  t.equal(await both.exchangeToKeep(STRANGER, TARGET), kept)
  t.equal(await both.renew(STRANGER, kept, TARGET, async () => {}), kept)
})
