// Where a client may let people be sent back to: what it may name, and what it may then ask for.

import t, { type Test } from 'tap'
import { hasOpenssl } from '../../helpers/certificates.ts'
import { startDocumentServer } from './document-server.ts'
import { HELLO, readMetadata, register, startSignInService, type Metadata } from './sign-in-service.ts'

const ACCEPTED = [
  'http://localhost:3334/oauth/callback', 'http://127.0.0.1/', 'http://[::1]:80/x', 'http://LOCALHOST/x',
  'http://127.1/x', 'http://[0:0::1]/x', 'https://claude.ai/api/mcp/auth_callback', 'https://vscode.dev/redirect',
  'cursor://anysphere.cursor-mcp/oauth/callback', 'vscode://vscode.github-authentication/x', 'claude://oauth',
  'com.example.app:/back', 'https://host.example/back?x=1', 'cursor://user-profile/x'
]
const REFUSED = [
  // Schemes.
  'javascript:alert(1)', 'JavaScript:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'file:///etc/passwd',
  'blob:https://a.example/x', 'vbscript:x', 'about:blank', 'view-source:https://a.example', 'ms-msdt:/id', 'TEL:1',
  't\tel:1', '\u0001tel:1', 'jar:https://a.example!/b', 'search-ms:query', 'shell:x', 'filesystem:https://a.example/x',
  'chrome://settings',
  // Hosts that http may not have, and loopback that https may not have.
  'http://host.example/back', 'http://127.0.0.1.evil.example/', 'http://localhost.evil.example/',
  'http://2130706433.example/', 'http://127.0.0.2/', 'http://localhost./', 'http://0.0.0.0/', 'http://[::]/',
  'http://[::ffff:127.0.0.1]/', 'http://x.localhost/', 'https://localhost/', 'https://127.0.0.1/',
  // Parts that no redirect has.
  'http://user@127.0.0.1/', 'https://claude.ai@evil.example/', 'https://:x@host.example/',
  'cursor://user@host/x', 'https://a.example/#x', 'cursor://x/y#z', 'http://127.0.0.1/#',
  // No addresses.
  '/back', '', 'https://'
]

/** Resolves to the status of an authorization request, and to where it sends the person. */
async function ask ({ authorization_endpoint: endpoint }: Metadata, clientId: string, redirectUri: string) {
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256'
  })
  const { status, headers } = await fetch(`${endpoint}?${query}`, { redirect: 'manual' })
  return { status, location: headers.get('location') ?? '' }
}

/** A client of each redirect URI, for each way in which clients tell what they are. */
async function openClients (t: Test) {
  const server = await startDocumentServer(t)
  server.takeInternet(t)
  const uris = [...ACCEPTED, ...REFUSED]
  const pinned = (index: number) => `https://pinned.example/${index}.json`
  const toDocument = (id: string, uri: string) => ({ client_id: id, redirect_uris: [uri] })
  uris.forEach((uri, index) => {
    server.answers.set(`/${index}`, toDocument(`${server.origin}/${index}`, uri))
  })
  const { origin } = await startSignInService(t, {}, {
    ...HELLO,
    'sign-in.yaml': `clients:\n  registration: on\n  documents:\n${
      uris.map((_, index) => `    ${pinned(index)}: documents/${index}.json\n`).join('')}`,
    ...Object.fromEntries(uris.map((uri, index) => [
      `documents/${index}.json`, JSON.stringify(toDocument(pinned(index), uri))
    ]))
  })
  const metadata = await readMetadata(origin)
  return {
    isRegistered: async (uri: string) => (await register(metadata, { redirect_uris: [uri] })).status === 201,
    isFetched: async (uri: string) => (
      (await ask(metadata, `${server.origin}/${uris.indexOf(uri)}`, uri)).status === 303
    ),
    isPinned: async (uri: string) => (await ask(metadata, pinned(uris.indexOf(uri)), uri)).status === 303
  }
}

t.test('a redirect URI is one of a host, however the client has named it', async (t) => {
  if (!hasOpenssl(t)) return
  const { isRegistered, isFetched, isPinned } = await openClients(t)
  for (const [uris, isAccepted] of [[ACCEPTED, true], [REFUSED, false]] as const) {
    for (const uri of uris) {
      t.equal(await isRegistered(uri), isAccepted, `${uri}, registered`)
      t.equal(await isFetched(uri), isAccepted, `${uri}, in a document`)
      t.equal(await isPinned(uri), isAccepted, `${uri}, in a pinned document`)
    }
  }
})

t.test('a redirect URI is exact, but for the port of loopback', async (t) => {
  const { origin } = await startSignInService(t)
  const metadata = await readMetadata(origin)
  const names = [
    'http://localhost/back', 'http://127.0.0.1:3000/back', 'http://[::1]/back', 'https://host.example/back',
    'cursor://host/back'
  ]
  const registration = await register(metadata, { redirect_uris: names })
  const { client_id: id } = await registration.json() as { client_id: string }
  const accepted = [
    ...names, 'http://localhost:4711/back', 'http://127.0.0.1/back', 'http://127.0.0.1:65535/back',
    'http://[::1]:1/back'
  ]
  for (const uri of accepted) {
    const { status, location } = await ask(metadata, id, uri)
    t.equal(status, 303, uri)
    t.match(location, /^\/sign-in\/consent\//)
  }
  const refused = [
    'https://host.example:8443/back', 'https://host.example:443/back', 'https://HOST.example/back',
    'cursor://host:1/back', 'cursor://HOST/back', 'http://localhost:4711/back/', 'http://localhost:4711/other', 'http://localhost:4711/back?x',
    'http://localhost:4711/back#x', 'http://user@localhost:4711/back', 'http://localhost:65536/back',
    'http://localhost:x/back', 'http://LOCALHOST:4711/back', 'http://localhost.:4711/back', 'http://127.1:4711/back',
    'http://127.0.0.2:3000/back', 'http://0.0.0.0:3000/back', 'http://[0::1]:1/back', 'https://localhost:4711/back',
    'http://localhost:4711@evil.example/back', 'http://localhost:4711/./back', 'http://host.example/back'
  ]
  for (const uri of refused) {
    t.match(await ask(metadata, id, uri), { status: 400, location: '' }, uri)
  }
})
