import { decodeJwt } from 'jose'
import t from 'tap'
import { createJwtVerifier } from '../../../src/platform/access/jwt-verifier.ts'
import { PRESETS } from '../../../src/platform/access/token-rules.ts'
import { startAuthorizationServer, type AuthorizationServer } from '../../servers/authorization-server.ts'
import type { ProviderName } from '../../servers/provider-behaviors.ts'

const RESOURCE = 'https://books.example/mcp'

const verifierOf = (preset: keyof typeof PRESETS, { issuer, audience = RESOURCE }: AuthorizationServer) => {
  return createJwtVerifier({ issuers: [issuer], audiences: [{ audience }], rules: PRESETS[preset] })
}

/** What a user and a client that acts for itself look like, both with the scope books:read. */
const EXPECTED: {
  readonly [name in Exclude<ProviderName, 'thin' | 'google'>]: Readonly<Record<'user' | 'client', object>>
} = {
  standard: {
    user: { subject: 'alice', clientId: 'app', scopes: ['books:read'] },
    client: { subject: 'machine', clientId: 'machine', scopes: ['books:read'] }
  },
  entra: {
    user: { subject: 'oid-alice', clientId: 'app', scopes: ['books:read'] },
    client: { subject: 'oid-machine', clientId: 'machine', scopes: ['books:read'] }
  },
  auth0: {
    user: { subject: 'auth0|alice', clientId: 'app', scopes: ['books:read', 'shelves:read'] },
    client: { subject: 'machine@clients', clientId: 'machine', scopes: ['books:read', 'shelves:read'] }
  },
  keycloak: {
    user: { subject: 'alice', clientId: 'app', scopes: ['books:read', 'librarian'] },
    client: { subject: 'machine', clientId: 'machine', scopes: ['books:read', 'librarian'] }
  },
  okta: {
    user: { subject: '00u-alice', clientId: 'app', scopes: ['books:read'] },
    client: { subject: 'machine', clientId: 'machine', scopes: ['books:read'] }
  }
}

for (const name of ['standard', 'entra', 'auth0', 'keycloak', 'okta'] as const) {
  t.test(`the preset ${name} reads the tokens of its provider (265)`, async (t) => {
    const server = await startAuthorizationServer(t, { behavesAs: name })
    const verifier = verifierOf(name, server)
    const [user, client] = await Promise.all([
      server.signIn({ scope: 'openid books:read' }), server.clientCredentials({ scope: 'books:read' })
    ])
    for (const [token, expected] of [
      [user.access_token, EXPECTED[name].user], [client.access_token, EXPECTED[name].client]
    ] as const) {
      const { subject, clientId, scopes, issuer, expiresAt, claims } = await verifier.verify(token)
      t.strictSame({ subject, clientId, scopes: [...scopes] }, expected)
      t.equal(issuer, server.issuer)
      t.equal(expiresAt, Number(decodeJwt(token).exp) * 1000)
      t.strictSame(claims, decodeJwt(token))
    }
  })

  t.test(`the preset ${name} refuses an ID token (266)`, async (t) => {
    const server = await startAuthorizationServer(t, { behavesAs: name })
    const { id_token: idToken = '' } = await server.signIn({ scope: 'openid books:read' })
    await t.rejects(verifierOf(name, server).verify(idToken), { code: 'invalid_token' })
  })
}

t.test('the preset google reads ID tokens', async (t) => {
  const server = await startAuthorizationServer(t)
  const verifier = createJwtVerifier({
    issuers: [server.issuer], audiences: [{ audience: 'app.apps.example' }], rules: PRESETS.google
  })
  const exp = Math.ceil(Date.now() / 1000) + 60
  const claims = { iss: server.issuer, sub: '1017', aud: 'app.apps.example', exp, email: 'a@books.example' }
  for (const azp of ['app.apps.example', 'phone.apps.example', undefined]) {
    const token = await server.sign({ ...claims, azp }, { typ: 'JWT' })
    const { subject, clientId, scopes } = await verifier.verify(token)
    t.strictSame([subject, clientId, scopes.size], ['1017', azp ?? 'app.apps.example', 0])
  }
})

t.test('the preset auth0 also reads the profile of RFC 9068', async (t) => {
  const server = await startAuthorizationServer(t)
  const { access_token: token } = await server.clientCredentials({ scope: 'books:read' })
  t.equal((await verifierOf('auth0', server).verify(token)).clientId, 'machine')
})

t.test('the preset entra also reads version 1.0, which names the client appid', async (t) => {
  const server = await startAuthorizationServer(t)
  const exp = Math.ceil(Date.now() / 1000) + 60
  const token = await server.sign(
    { iss: server.issuer, aud: RESOURCE, sub: 'p', oid: 'o', appid: 'app', exp, roles: ['r'] }, { typ: 'JWT' }
  )
  t.match(await verifierOf('entra', server).verify(token), { subject: 'o', clientId: 'app' })
})

t.test('the preset keycloak tells access tokens from others by their claim typ', async (t) => {
  const server = await startAuthorizationServer(t)
  const exp = Math.ceil(Date.now() / 1000) + 60
  for (const typ of ['ID', 'Refresh', 'Offline', 'DPoP']) {
    const token = await server.sign({ iss: server.issuer, aud: RESOURCE, sub: 'a', exp, typ }, { typ: 'JWT' })
    await t.rejects(verifierOf('keycloak', server).verify(token), { code: 'invalid_token' }, typ)
  }
})

t.test('a provider that ignores the resource is trusted by its audience (266)', async (t) => {
  const server = await startAuthorizationServer(t, { behavesAs: 'auth0' })
  for (const resource of [null, 'https://other.example/mcp']) {
    const [{ access_token: user }, { access_token: client }] = await Promise.all([
      server.signIn({ resource, scope: 'openid books:read' }), server.clientCredentials({ resource })
    ])
    t.equal((await verifierOf('auth0', server).verify(user)).subject, 'auth0|alice')
    t.equal((await verifierOf('auth0', server).verify(client)).clientId, 'machine')
  }
})
