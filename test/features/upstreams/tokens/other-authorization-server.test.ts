import t from 'tap'
import { CallerTokens } from '../../../../src/platform/access/caller-tokens.ts'
import { ServiceToken } from '../../../../src/features/upstreams/tokens/service-token.ts'
import { TokenExchange } from '../../../../src/features/upstreams/tokens/token-exchange.ts'
import { startOtherServer } from '../../../servers/other-authorization-server.ts'
import { CLIENT } from './exchange-setup.ts'

t.test('an authorization server of a library exchanges the tokens of two users', async (t) => {
  const { issuer, sign, read } = await startOtherServer(t, CLIENT)
  const tokens = new CallerTokens()
  const exchange = new TokenExchange({ issuers: [issuer], tokens, client: CLIENT })
  for (const subject of ['alice', 'bob']) {
    const principal = { issuer, subject, scopes: new Set<string>() }
    tokens.add(principal, await sign(subject))
    const token = await exchange.tokenFor(principal, { audience: 'crm', scopes: ['crm:read', 'crm:write'] })
    t.match(await read(token), { sub: subject, cid: CLIENT.clientId, scope: 'crm:read crm:write' })
    t.equal(exchange.tokenFor(principal, { audience: 'crm', scopes: ['crm:read', 'crm:write'] }), token)
  }
  const forged = { issuer, subject: 'eve', scopes: new Set<string>() }
  tokens.add(forged, 'no-token-of-the-server')
  await t.rejects(async () => await exchange.tokenFor(forged, { audience: 'crm' }), /gives no token/)
})

t.test('and it gives the service a token of its own', async (t) => {
  const { issuer, read } = await startOtherServer(t, CLIENT)
  const target = { audience: 'crm', scopes: ['crm:read'] }
  const token = new ServiceToken({ issuer, client: CLIENT, target })
  t.match(await read(await token.read()), { cid: CLIENT.clientId, scope: 'crm:read' })
  const wrong = new ServiceToken({ issuer, client: { ...CLIENT, secret: 'CANARY' }, target: {} })
  await t.rejects(async () => await wrong.read(), {
    name: 'AuthenticationUnavailable', message: /^(?!.*CANARY).*gives no token/
  })
})
