// sign-in.yaml: its defaults, and what is wrong with it, by file, place and rule.

import { generateKeyPairSync } from 'node:crypto'
import t, { type Test } from 'tap'
import { createApp } from '../../../../src/app/app.ts'
import { readSignInFile } from '../../../../src/features/sign-in/people/sign-in-file.ts'
import { writeCatalog, type Files } from '../../../helpers/catalog-folder.ts'
import { runProgram } from '../../../helpers/program.ts'
import { QUIET } from '../../../helpers/quiet-options.ts'
import { startProviderService } from './provider-service.ts'

const ISSUER = 'https://login.books.example'
const DOCUMENT_URL = 'https://assistant.example/client.json'

async function read (t: Test, yaml: string | undefined, files: Files = {}, issuer = ISSUER) {
  const folder = await writeCatalog(t, { ...files, ...(yaml !== undefined && { 'sign-in.yaml': yaml }) })
  return await readSignInFile(folder, issuer)
}

async function findProblems (t: Test, yaml: string, files?: Files, issuer?: string): Promise<string[]> {
  const { problems } = await read(t, yaml, files, issuer)
  return problems.map(({ file, place, rule }) => `${file}: ${place}: ${rule}`)
}

t.test('without the file, or with an empty one, everything has a default', async (t) => {
  for (const yaml of [undefined, '', '# nothing\n']) {
    const { file, problems } = await read(t, yaml)
    t.strictSame(problems, [])
    t.strictSame(file, {
      preset: 'oidc',
      rules: { admit: [], scopes: {}, subjectClaims: ['sub'] },
      ask: { scopes: [], audience: undefined },
      clients: { documents: new Map(), registration: true },
      times: { accessTokenSeconds: 3600, refreshTokenSeconds: 14 * 86_400, grantSeconds: 90 * 86_400 }
    })
  }
})

t.test('clients register themselves beside a list of hosts only if the file says so', async (t) => {
  const hosts = 'clients: { hosts: [assistant.example]'
  t.equal((await read(t, `${hosts} }`)).file.clients.registration, false)
  t.equal((await read(t, `${hosts}, registration: on }`)).file.clients.registration, true)
})

t.test('a full file', async (t) => {
  const document = { client_id: DOCUMENT_URL, redirect_uris: ['https://assistant.example/back'] }
  const { file, problems } = await read(t, `preset: keycloak
admit:
  - { claim: groups, anyOf: [staff] }
scopes:
  books:read: everyone
  books:write: { claim: groups, anyOf: [librarians] }
ask:
  scopes: [groups]
clients:
  hosts: [Assistant.example]
  documents:
    ${DOCUMENT_URL}: clients/assistant.json
  registration: off
times: { accessTokenSeconds: 600, idleSeconds: 86400, maxAgeSeconds: 864000 }
`, { 'clients/assistant.json': JSON.stringify(document) })
  t.strictSame(problems, [])
  t.strictSame(file.clients, {
    allowedHosts: ['assistant.example'], documents: new Map([[DOCUMENT_URL, document]]), registration: false
  })
  t.strictSame(file.times, { accessTokenSeconds: 600, refreshTokenSeconds: 86_400, grantSeconds: 864_000 })
  t.strictSame(Object.keys(file.rules.scopes), ['books:read', 'books:write'])
})

t.test('all problems of the form come at once, each with its place', async (t) => {
  t.strictSame(await findProblems(t, `preset: azure
admit: [{ claim: groups }, { claim: '', anyOf: [] }]
scope: {}
scopes: { x: nobody }
`), [
    'sign-in.yaml: scope: is not known here; did you mean scopes?',
    'sign-in.yaml: preset: must be one of ["oidc","entra","google","okta","auth0","keycloak","github"], ' +
      'got "azure"',
    'sign-in.yaml: admit[0].anyOf: is required, but missing',
    'sign-in.yaml: admit[1].claim: must NOT have fewer than 1 characters, got ""',
    'sign-in.yaml: admit[1].anyOf: must NOT have fewer than 1 items, got []',
    'sign-in.yaml: scopes.x: must be everyone, or have a claim and anyOf'
  ])
  t.strictSame(await findProblems(t, `scopes: { y: { claim: 3 } }
times: { accessTokenSeconds: 1h, idleSeconds: 1 }
clients: { registration: no }
`), [
    'sign-in.yaml: scopes.y: must be everyone, or have a claim and anyOf',
    'sign-in.yaml: clients.registration: must be one of ["on","off"], got "no"',
    'sign-in.yaml: times.accessTokenSeconds: must be integer, got "1h"',
    'sign-in.yaml: times.idleSeconds: must be >= 3600, got 1'
  ])
  t.match(await findProblems(t, 'admit: [\n'), [/^sign-in.yaml: line 2: /])
  t.match(await findProblems(t, '- a\n'), [/must be object/])
})

t.test('all problems of the values come at once', async (t) => {
  t.strictSame(await findProblems(t, `preset: okta
scopes: { openid: everyone, offline_access: everyone, sign-in: everyone }
ask: { audience: 'https://books.example' }
times: { idleSeconds: 7200, maxAgeSeconds: 3600 }
clients:
  documents:
    http://assistant.example/client.json: a.json
    https://assistant.example: a.json
    https://assistant.example/1: ../a.json
    https://assistant.example/2: /etc/passwd
    https://assistant.example/3: none.json
    https://assistant.example/4: a.json
`, { 'a.json': JSON.stringify({ client_id: 'https://other.example/4' }) }), [
    'sign-in.yaml: ask.audience: the provider okta takes none',
    'sign-in.yaml: scopes.sign-in: is a scope of the sign-in itself',
    'sign-in.yaml: scopes.openid: is a scope of the sign-in itself',
    'sign-in.yaml: scopes.offline_access: is a scope of the sign-in itself',
    'sign-in.yaml: times.idleSeconds: must not be more than maxAgeSeconds',
    ...['http://assistant.example/client.json', 'https://assistant.example'].map(
      (url) => `sign-in.yaml: clients.documents.${url}: must be the https:// URL of a document, with a path`
    ),
    'sign-in.yaml: clients.documents.https://assistant.example/1: ../a.json must be in the catalog folder',
    'sign-in.yaml: clients.documents.https://assistant.example/2: /etc/passwd must be in the catalog folder',
    'sign-in.yaml: clients.documents.https://assistant.example/3: none.json cannot be read: ENOENT',
    'sign-in.yaml: clients.documents.https://assistant.example/4: a.json must be an object whose client_id ' +
      'is the URL'
  ])
})

t.test('a preset that contradicts the issuer is refused', async (t) => {
  t.match(await findProblems(t, 'preset: oidc\n', {}, 'https://accounts.google.com'), [
    /preset: must be google for https:\/\/accounts\.google\.com/
  ])
})

const SIGN_IN = {
  ...QUIET,
  auth: ['sign-in'],
  publicUrl: 'https://mcp.example.com/mcp',
  signInClientId: 'trivet',
  signInClientSecret: 'secret'
} as const

t.test('the start is refused where everybody would come in', async (t) => {
  for (const [signIn, rule] of [
    ['https://accounts.google.com', /admit must have a rule for the claim hd or sub: .* accounts\.google\.com/],
    ['https://github.com', /admit must have a rule for the claim organizations or .* at github\.com/],
    ['https://login.microsoftonline.com/common/v2.0', /admit must have a rule for the claim tid/],
    ['https://login.microsoftonline.com/organizations/v2.0', /admit must have a rule for the claim tid/],
    ['https://login.microsoftonline.com/consumers/v2.0', /admit must have a rule for the claim tid/]
  ] as const) {
    for (const yaml of ['', 'scopes: { books:read: everyone }\n', 'admit: []\n']) {
      const catalog = await writeCatalog(t, { 'sign-in.yaml': yaml })
      await t.rejects(createApp({ ...SIGN_IN, catalog, signIn }), { name: 'ConfigError', message: rule })
    }
  }
})

t.test('the start is refused with all problems of the file', async (t) => {
  const catalog = await writeCatalog(t, { 'sign-in.yaml': 'preset: azure\nadmit: [{}]\n' })
  await t.rejects(createApp({ ...SIGN_IN, catalog, signIn: ISSUER }), {
    name: 'ConfigError', message: /: preset must be one of[^]*\n.*sign-in\.yaml: admit\[0\]\.claim is required/
  })
})

t.test('the start is refused without secrets on a shared state, or without https', async (t) => {
  const catalog = await writeCatalog(t, {})
  const options = { ...SIGN_IN, catalog, signIn: ISSUER }
  await t.rejects(createApp({ ...options, stateUrl: 'redis://127.0.0.1:1' }), {
    name: 'ConfigError', message: /TRIVET_SECRETS/
  })
  await t.rejects(createApp({ ...options, publicUrl: 'http://mcp.example.com/mcp' }), {
    name: 'ConfigError', message: /publicUrl must be the URL of the endpoint .*http:\/\/ only for this machine/
  })
})

t.test('the start is refused with a client that its provider does not take', async (t) => {
  const rule = 'admit: [{ claim: organizations, anyOf: [books] }]\n'
  const catalog = await writeCatalog(t, { 'server.yaml': '', 'sign-in.yaml': rule })
  const { signInClientSecret: _, ...options } = SIGN_IN
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signInClientKey = String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
  await t.rejects(createApp({ ...options, catalog, signIn: 'https://github.com', signInClientKey }), {
    name: 'ConfigError', message: /GitHub takes a client secret/
  })
  await t.rejects(createApp({ ...options, catalog, signIn: ISSUER, signInClientKey: '{}' }), {
    name: 'ConfigError', message: /the private key must be/
  })
})

const CLOSE = {
  'tools/close.mjs': `import { defineTool } from 'trivet'
export default defineTool({
  name: 'close', description: 'Closes.', scopes: ['books:admin', 'books:read'],
  inputSchema: { type: 'object' }, run: () => 'ok'
})`
}

t.test('the start warns of scopes that tools need and no rule gives', async (t) => {
  const server = 'scopes: [{ name: books:all, includes: [books:admin] }]\n'
  const warn = async (yaml: string) => {
    const { warnings } = await startProviderService(t, yaml, {}, { ...CLOSE, 'server.yaml': server })
    return warnings.filter(({ message }) => message.startsWith('no rule of sign-in.yaml'))
  }
  t.match(await warn(''), [{ scopes: ['books:admin', 'books:read'] }])
  t.match(await warn('scopes: { books:admin: everyone }'), [{ scopes: ['books:read'] }])
  t.strictSame(await warn('scopes: { books:all: everyone, books:read: everyone }'), [])
})

t.test('`trivet check` has the problems of the file beside those of the catalog', async (t) => {
  const files = { 'sign-in.yaml': 'admit: [{}]\n', 'tools/a.ts': 'export default 1 +\n' }
  const folder = await writeCatalog(t, files)
  const { out, exitCode } = await runProgram(['check', folder])
  t.equal(exitCode, 1)
  t.match(out, /^tools\/a\.ts:\d/m)
  t.match(out, /^sign-in\.yaml: admit\[0\]\.claim: is required, but missing$/m)
})

t.test('`trivet check` knows the identity provider if the settings have it', async (t) => {
  const folder = await writeCatalog(t, { 'server.yaml': '', 'sign-in.yaml': '' })
  const check = async (TRIVET_SIGN_IN: string) => await runProgram(['check', folder], { TRIVET_SIGN_IN })
  t.match(await check('https://accounts.google.com'), { exitCode: 1, out: /^sign-in\.yaml: admit: must have/m })
  t.match(await check('anything'), { exitCode: 0 })
})
