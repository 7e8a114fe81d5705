// Grants: codes, families of refresh tokens, revocation, and what is refused at the endpoint.

import { setTimeout as pause } from 'node:timers/promises'
import { decodeJwt, SignJWT, type JWTPayload } from 'jose'
import t from 'tap'
import { replaceTime } from '../../../src/base/time.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import { createSigningKeys } from '../../../src/platform/store/sealing/signing-keys.ts'
import { callHello } from './sign-in-service.ts'
import {
  createAhead, getCode, postForm, redeem, refresh, register, signInAs, startGrantService
} from './grants-setup.ts'

const REFUSED = { status: 400, body: { error: 'invalid_grant' } }
/** After it an ended grant counts nowhere. */
const LOOK_MS = 2000

t.test('a code', async (t) => {
  const { origin } = await startGrantService(t)
  const clientId = await register(origin)
  const callWith = async (token: unknown) => (await callHello(`${origin}/mcp`, token)).status

  t.test('that is used twice ends the grant', async (t) => {
    const code = await getCode(origin, clientId)
    const first = await redeem(origin, code)
    t.equal(first.status, 200)
    t.equal(await callWith(first.body.access_token), 200)
    t.match(await redeem(origin, code), REFUSED)
    t.match(await refresh(origin, clientId, first.body.refresh_token), REFUSED)
    await pause(LOOK_MS)
    t.equal(await callWith(first.body.access_token), 401)
  })

  t.test('that is used at the same moment by many gives tokens that do not count', async (t) => {
    const code = await getCode(origin, clientId)
    const answers = await Promise.all(Array.from({ length: 8 }, async () => await redeem(origin, code)))
    const winners = answers.filter(({ status }) => status === 200)
    t.ok(winners.length <= 1)
    await pause(LOOK_MS)
    for (const { body } of winners) {
      t.match(await refresh(origin, clientId, body.refresh_token), REFUSED)
      t.equal(await callWith(body.access_token), 401)
    }
  })

  t.test('does not count for another client, on another redirect or with another verifier', async (t) => {
    const code = await getCode(origin, clientId)
    const other = await register(origin)
    for (const [name, value] of Object.entries({
      client_id: other, redirect_uri: 'http://127.0.0.1/elsewhere', code_verifier: 'x'.repeat(43)
    })) {
      t.match(await redeem(origin, { clientId, form: { ...code.form, [name]: value } }), REFUSED, name)
    }
    const { code_verifier: _, ...bare } = code.form
    t.match(await redeem(origin, { clientId, form: bare }), REFUSED, 'no verifier')
    t.equal((await redeem(origin, code)).status, 200, 'and is not used up by it')
  })

  t.test('expires', async (t) => {
    const code = await getCode(origin, clientId)
    createAhead(t)(62_000)
    t.match(await redeem(origin, code), REFUSED)
  })

  t.test('counts where a clock is 90 s ahead, as long as the store keeps it', async (t) => {
    const code = await getCode(origin, clientId)
    // The clock of the engine alone: the store is another machine.
    const { now } = Date
    t.teardown(replaceTime({ now: () => now() }))
    t.teardown(() => { Date.now = now })
    Date.now = () => now() + 90_000
    t.equal((await redeem(origin, code)).status, 200)
  })
})

t.test('a refresh token', async (t) => {
  const { origin } = await startGrantService(t)

  t.test('gets the same answer for ten seconds, as long as its successor is not used', async (t) => {
    const { clientId, refreshToken } = await signInAs(origin)
    const first = await refresh(origin, clientId, refreshToken)
    const again = await Promise.all([1, 2, 3].map(async () => await refresh(origin, clientId, refreshToken)))
    for (const { body } of again) t.equal(body.refresh_token, first.body.refresh_token)
    t.equal((await refresh(origin, clientId, first.body.refresh_token)).status, 200)
    t.match(await refresh(origin, clientId, refreshToken), REFUSED)
    t.match(await refresh(origin, clientId, first.body.refresh_token), REFUSED, 'the family has ended')
  })

  t.test('does not get it for another client, and that ends nothing', async (t) => {
    const { clientId, refreshToken } = await signInAs(origin)
    const other = await register(origin)
    t.match(await refresh(origin, other, refreshToken), REFUSED)
    const { body } = await refresh(origin, clientId, refreshToken)
    t.match(await refresh(origin, other, refreshToken), REFUSED)
    t.equal((await refresh(origin, clientId, body.refresh_token)).status, 200)
  })

  t.test('that comes back after ten seconds was stolen: the family ends', async (t) => {
    const goAhead = createAhead(t)
    const { clientId, refreshToken } = await signInAs(origin)
    const { body } = await refresh(origin, clientId, refreshToken)
    goAhead(10_500)
    t.match(await refresh(origin, clientId, refreshToken), REFUSED)
    t.match(await refresh(origin, clientId, body.refresh_token), REFUSED)
  })

  t.test('is not made by hand', async (t) => {
    const { clientId, refreshToken } = await signInAs(origin)
    const [owner, id, rotation, proof = ''] = refreshToken.split('.')
    const otherProof = `${proof.slice(0, -1)}${proof.endsWith('A') ? 'B' : 'A'}`
    for (const token of [
      `${owner}.${id}.1.${proof}`, `${owner}.${id}.${rotation}.${otherProof}`, `${owner}.${id}.${rotation}.`,
      '', 'x', `${owner}.${id}`
    ]) t.equal((await refresh(origin, clientId, token)).status, 400)
    t.equal((await refresh(origin, clientId, refreshToken)).status, 200)
  })

  t.test('ends when it is idle for 14 days, and its family after 90 days of use', async (t) => {
    const goAhead = createAhead(t)
    const day = 86_400_000
    const idle = await signInAs(origin)
    const { clientId, ...used } = await signInAs(origin)
    let token: unknown = used.refreshToken
    let days = 0
    for (; days < 100; days += 10) {
      const { status, body } = await refresh(origin, clientId, token)
      if (status !== 200) break
      token = body.refresh_token
      goAhead(10 * day)
      if (days === 10) t.match(await refresh(origin, idle.clientId, idle.refreshToken), REFUSED)
    }
    t.equal(days, 90)
  })
})

t.test('revocation', async (t) => {
  const { origin, log } = await startGrantService(t)
  // The library says each thing once in a process.
  const printed = t.capture(console, 'info').args
  const revoke = async (client: string, token: string, more = {}) => await postForm(
    origin, '/sign-in/revoke', { client_id: client, token, ...more }
  )

  for (const kind of ['accessToken', 'refreshToken'] as const) {
    t.test(`by the ${kind}`, async (t) => {
      const tokens = await signInAs(origin)
      const { clientId, accessToken, refreshToken } = tokens
      t.equal((await callHello(`${origin}/mcp`, accessToken)).status, 200)
      const other = await register(origin)
      t.equal((await revoke(other, tokens[kind])).status, 200)
      t.equal((await refresh(origin, clientId, refreshToken)).status, 200, 'another client ends nothing')
      t.match(await revoke(clientId, tokens[kind]), { status: 200, body: {} })
      t.match(await refresh(origin, clientId, refreshToken), REFUSED)
      await pause(LOOK_MS)
      t.equal((await callHello(`${origin}/mcp`, accessToken)).status, 401)
      t.equal((await revoke(clientId, tokens[kind])).status, 200, 'a second time is as good')
    })
  }

  t.test('takes any text, and only from clients', async (t) => {
    const { clientId, accessToken } = await signInAs(origin)
    for (const token of ['x', 'a.b.c', accessToken.slice(0, -4), `${accessToken}.x`]) {
      t.match(await revoke(clientId, token, { token_type_hint: 'access_token' }), { status: 200 })
    }
    t.equal((await revoke('nobody', accessToken)).status, 401)
    t.equal((await postForm(origin, '/sign-in/revoke', { client_id: clientId })).status, 400)
    await pause(LOOK_MS)
    t.equal((await callHello(`${origin}/mcp`, accessToken)).status, 200, 'and ends nothing')
    t.notOk(log.text().includes(accessToken))
  })

  t.test('is no refusal in the log, and the library writes no line of its own', async (t) => {
    const { clientId, accessToken, refreshToken } = await signInAs(origin)
    const before = log.lines.length
    for (const token of [accessToken, refreshToken]) t.equal((await revoke(clientId, token)).status, 200)
    t.strictSame(printed(), [])
    t.strictSame(log.lines.slice(before).filter(({ msg }) => /refused|failed/.test(String(msg))), [])
  })
})

t.test('the endpoint takes only tokens of this service for this resource (263, 265, 266)', async (t) => {
  const secret = 'a secret that the test knows as well'
  const { origin, provider } = await startGrantService(t, { options: { secrets: [secret] } })
  const { accessToken, refreshToken } = await signInAs(origin)
  const sealer = createSealer([secret])
  const sign = async (purpose: 'signing' | 'sign-in', typ: string, claims: JWTPayload) => {
    const { privateKey, publicKey: { kid } } = createSigningKeys(sealer, purpose).current
    return await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid, typ }).sign(privateKey)
  }
  const other = await startGrantService(t)
  const foreign = await signInAs(other.origin)
  const claims = decodeJwt(accessToken)
  const { id_token: idToken, access_token: providerToken } = await provider.signIn()
  const refused = {
    'a refresh token': refreshToken,
    'an ID token of the provider': idToken,
    'an access token of the provider': providerToken,
    'a token that the provider signs with these claims': await provider.sign(claims),
    'a token of claims': await sign('signing', 'JWT', { ...claims, iss: `${origin}/mcp` }),
    'a token that the key of claims signs': await sign('signing', 'at+jwt', claims),
    'an ID token of this service': await sign('sign-in', 'JWT', claims),
    'a token for another resource': await sign('sign-in', 'at+jwt', { ...claims, aud: `${origin}/other` }),
    'a token that has expired': await sign('sign-in', 'at+jwt', { ...claims, exp: Number(claims.iat) - 1 }),
    'a token without a grant': await sign('sign-in', 'at+jwt', { ...claims, grant: undefined }),
    'a token of a grant that never was': await sign('sign-in', 'at+jwt', { ...claims, grant: 'x' }),
    'a token of another service with other secrets': foreign.accessToken,
    'a token without a signature': `${btoa('{"alg":"none","typ":"at+jwt"}')}.${accessToken.split('.')[1]}.`
  }
  for (const [name, token] of Object.entries(refused)) {
    t.equal((await callHello(`${origin}/mcp`, token)).status, 401, name)
  }
  const same = await sign('sign-in', 'at+jwt', claims)
  for (const token of [accessToken, same]) {
    t.equal((await callHello(`${origin}/mcp`, token)).status, 200, 'the test signs as the service does')
  }
})
