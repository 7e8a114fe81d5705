// The engine with documents that it fetches, and what the log gets.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { readSignInFile } from '../../../src/features/sign-in/people/sign-in-file.ts'
import { openSignIn } from '../../../src/features/sign-in/sign-in.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import { hasOpenssl } from '../../helpers/certificates.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { startDocumentServer } from './document-server.ts'
import { toAuthorization, toEndpoints } from './sign-in-service.ts'

const REDIRECT_URI = 'https://client.example/back'

/** A process of its own: the library says it once. */
const LOAD = `const { loadEngine } = await import('./src/features/sign-in/engine/load-engine.ts')
const { warn } = console
await loadEngine({ info () {}, error () {}, warn: ({ reason }) => console.log('logged', reason) })
console.log(console.warn === warn)`

t.test('what the library says at its start is in the log', async (t) => {
  const args = ['--import=./test/runner/register.mjs', '--input-type=module', '--eval', LOAD]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  const isOld = Number(process.versions.node.split('.')[0]) < 22
  t.match(stdout, isOld ? /^logged .*Unsupported runtime.*\ntrue\n$/ : /^true\n$/)
  t.notMatch(stderr, 'oidc-provider')
})

/** Serves the engine alone. */
async function openEngine (t: Test) {
  const documents = await startDocumentServer(t)
  documents.takeInternet(t)
  const { logger: log, lines } = createReadableLog()
  const server = createServer((request, response) => {
    signIn.serve(request, response, { log }).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { file } = await readSignInFile(await makeFolder(t), undefined)
  const signIn = await openSignIn({
    issuer: origin,
    resource: `${origin}/mcp`,
    provider: { issuer: 'https://login.example', client: { clientId: 'trivet', secret: 'a secret' } },
    file,
    store: createMemoryStateStore(),
    sealer: createSealer(['a secret']),
    toErrorPage: ({ error, error_description: text = '' }) => ({ headers: {}, text: `${error}: ${text}` }),
    log
  })
  return { ...documents, lines, issuer: origin }
}

async function authorize (issuer: string, clientId: string) {
  const { url } = toAuthorization(toEndpoints(issuer), { clientId, redirectUri: REDIRECT_URI })
  const answer = await fetch(url, { redirect: 'manual' })
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
}

t.test('a client is the document at its id', async (t) => {
  if (!hasOpenssl(t)) return
  const { answers, asked, origin, issuer, lines } = await openEngine(t)
  const write = (path: string, members: object) => {
    const id = `${origin}${path}`
    answers.set(path, { client_id: id, client_name: 'A client', redirect_uris: [REDIRECT_URI], ...members })
    return id
  }
  const good = write('/good', { scope: 'all', logo_uri: 'http://x', grant_types: ['implicit'], unknown: [1] })
  const all = await Promise.all(Array.from({ length: 20 }, async () => await authorize(issuer, good)))
  for (const { status, location, text } of all) {
    t.equal(status, 303, text)
    t.match(location, /^\/sign-in\/consent\//)
  }
  t.equal(asked.length, 1)

  const refused = [
    write('/other', { client_id: good }), write('/secret', { client_secret: 'x' }),
    write('/basic', { token_endpoint_auth_method: 'client_secret_basic' }),
    write('/script', { redirect_uris: ['javascript:alert(1)'] }), write('/none', { redirect_uris: [] }),
    write('/elsewhere', { redirect_uris: ['https://other.example/'] }), `${origin}/missing`
  ]
  for (const id of refused) {
    const { status, location } = await authorize(issuer, id)
    t.equal(status, 400, id)
    t.equal(location, null)
  }
  const { text } = await authorize(issuer, `${origin}/missing`)
  t.match(text, /^invalid_client: .*pin a copy in sign-in\.yaml/)
  const warnings = lines.filter(({ level, url }) => level === 40 && url !== undefined)
  t.match(warnings, [{ url: `${origin}/missing`, reason: 'status 404' }])

  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', client_id: `${origin}/missing` })
  const answer = await fetch(`${issuer}/sign-in/token`, { method: 'POST', body: form })
  t.equal(answer.status, 503, 'it must not think that its tokens count no more')
  t.match(await answer.json(), { error: 'temporarily_unavailable', error_description: /pin a copy/ })
})

t.test('a client can prove itself with the keys of its document', async (t) => {
  if (!hasOpenssl(t)) return
  const { answers, origin, issuer } = await openEngine(t)
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const { privateKey: otherKey } = await generateKeyPair('ES256')
  answers.set('/keys', { keys: [{ ...await exportJWK(publicKey), alg: 'ES256', kid: 'a' }] })
  const id = `${origin}/client`
  answers.set('/client', {
    client_id: id,
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: `${origin}/keys`
  })
  async function ask (key: typeof privateKey, audience: string, jti: string) {
    const assertion = await new SignJWT({ jti }).setProtectedHeader({ alg: 'ES256', kid: 'a' })
      .setIssuer(id).setSubject(id).setAudience(audience).setIssuedAt().setExpirationTime('1m').sign(key)
    const answer = await fetch(`${issuer}/sign-in/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: 'x',
        redirect_uri: REDIRECT_URI,
        client_assertion: assertion,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      })
    })
    return (await answer.json() as { error: string }).error
  }
  t.equal(await ask(privateKey, issuer, '1'), 'invalid_grant', 'the code alone is wrong')
  t.equal(await ask(privateKey, `${issuer}/sign-in/token`, '2'), 'invalid_grant')
  t.equal(await ask(privateKey, issuer, '1'), 'invalid_client', 'an assertion counts once')
  const errors = await Promise.all(Array.from({ length: 8 }, async () => await ask(privateKey, issuer, '5')))
  t.equal(errors.filter((error) => error === 'invalid_grant').length, 1, 'at the same moment too')
  t.equal(errors.filter((error) => error === 'invalid_client').length, 7)
  t.equal(await ask(otherKey, issuer, '3'), 'invalid_client')
  t.equal(await ask(privateKey, 'https://other.example', '4'), 'invalid_client')
})
