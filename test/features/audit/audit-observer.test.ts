// The lines of the audit log: who did what, and how it ended.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { send, type Message, type RequestParts } from '../../helpers/request.ts'
import { openProtectedApp } from '../../edges/http/protected-app.ts'

const CAN_ANSWER = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
const SCHEMA = "inputSchema: { type: 'object', properties: { query: {}, password: {}, " +
  "note: { type: 'string', writeOnly: true } } }"
const FILES: Files = {
  'tools/search.ts': toolModule('search', SCHEMA),
  'tools/kept.ts': toolModule('kept', `audit: 'values', ${SCHEMA}`),
  'tools/typed.ts': toolModule('typed', `audit: 'values', inputSchema: { type: 'object', properties: {
    login: { type: 'object', properties: { password: {}, age: { type: 'integer' } } }, note: { type: 'string' }
  } }`),
  'tools/few.ts': toolModule('few', "limits: { calls: '1/1h' }"),
  'tools/own.ts': toolModule('own', 'authorize: () => false'),
  'tools/hidden.ts': toolModule('hidden', "scopes: ['x']"),
  'prompts/hidden.md': '---\nscopes: [x]\n---\nHidden.\n',
  'resources/secret.resource.ts': "import { defineResourceTemplate } from 'trivet'\nexport default " +
    "defineResourceTemplate({ uriTemplate: 'secret://{id}', name: 's', scopes: ['x'], read: () => 's' })\n",
  'tools/refuses.ts': toolModule('refuses', '', "() => { throw new ToolError('no') }"),
  'tools/fails.ts': toolModule('fails', '', "() => { throw new Error('canary4711') }"),
  'tools/asks.ts': `import { defineTool, elicit } from 'trivet'
    const schema = { type: 'object', properties: { sure: { type: 'boolean' } } }
    export default defineTool({ name: 'asks', async run (_, ctx) {
      await ctx.ask({ ok: elicit.form({ message: 'Sure?', schema }) })
    } })
  `,
  'prompts/p.md': '---\narguments:\n  - name: topic\n---\nAbout {{topic}}.\n',
  'resources/a.txt': 'a',
  'resources/book.resource.ts': "import { defineResourceTemplate } from 'trivet'\nexport default " +
    "defineResourceTemplate({ uriTemplate: 'book://{id}', name: 'book', read: () => 'a book' })\n"
}

const call = (name: string, args: object = {}): RequestParts =>
  ({ method: 'tools/call', params: { name, arguments: args } })

interface Audited { readonly app: FastifyInstance, readonly lines: () => Promise<Message[]> }

/** `lines` closes the app. */
async function buildAudited (t: Test, options: AppOptions = {}): Promise<Audited> {
  const auditFile = join(await makeFolder(t), 'audit')
  const app = await buildApp(t, FILES, { auditFile, ...options })
  return { app, lines: async () => await closeAndRead(app, auditFile) }
}

async function closeAndRead (app: FastifyInstance, auditFile: string): Promise<Message[]> {
  await app.close()
  const text = await readFile(auditFile, 'utf8')
  return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line))
}

t.test('one line for each call and each read, with the names of the arguments', async (t) => {
  const { app, lines } = await buildAudited(t)
  await send(app, call('search', { query: 'canary4711', password: 'canary4711', canary4711: 1 }))
  await send(app, { method: 'prompts/get', params: { name: 'p', arguments: { topic: 'canary4711' } } })
  await send(app, { method: 'resources/read', params: { uri: 'file:///a.txt' } })
  await send(app, { method: 'resources/read', params: { uri: 'book://canary4711' } })
  await send(app, { method: 'tools/list' })
  const written = await lines()
  t.notMatch(JSON.stringify(written), 'canary4711')
  t.match(written, [
    {
      event: 'call',
      outcome: 'ok',
      method: 'tools/call',
      name: 'search',
      arguments: ['query', 'password'],
      unknownArguments: 1,
      address: '127.0.0.1',
      revision: '2026-07-28',
      status: 200,
      durationMs: Number,
      requestId: String
    },
    { event: 'read', outcome: 'ok', method: 'prompts/get', name: 'p', arguments: ['topic'] },
    { event: 'read', outcome: 'ok', method: 'resources/read', name: 'file:///a.txt', arguments: undefined },
    { event: 'read', outcome: 'ok', method: 'resources/read', name: 'book://{id}', arguments: ['id'] }
  ])
  t.equal(written.length, 4, 'a list is not a read')
})

t.test('values are kept where the definition says so, and secrets are replaced', async (t) => {
  const { app, lines } = await buildAudited(t)
  const query = { a: [1, 'two'] }
  await send(app, call('kept', { query, password: 'canary4711', note: 'canary4711', token: 'canary4711' }))
  t.match(await lines(), [{
    arguments: { query, password: '[redacted]', note: '[redacted]', token: '[redacted]' }
  }])
})

t.test('values are kept as they are repaired, and the secrets in a text are replaced', async (t) => {
  const { app, lines } = await buildAudited(t)
  await send(app, call('typed', { login: '{"password":"canary4711","age":"5"}', note: null }))
  await send(app, call('typed', { login: '{"password":"canary4711","age":"x"}' }))
  const written = await lines()
  t.match(written, [
    { outcome: 'ok', arguments: { login: { password: '[redacted]', age: 5 }, note: undefined } },
    { outcome: 'tool_error', arguments: { login: { password: '[redacted]', age: 'x' } } }
  ])
  t.notMatch(JSON.stringify(written), 'canary4711')
})

t.test('says how a call ended', async (t) => {
  const { app, lines } = await buildAudited(t)
  const expected: Array<[RequestParts, object]> = [
    [call('few'), { outcome: 'ok' }],
    [call('few'), { outcome: 'limited' }],
    [call('own'), { outcome: 'denied', name: 'own' }],
    [call('refuses'), { outcome: 'tool_error' }],
    [call('fails'), { outcome: 'failed', code: -32603 }],
    [{ ...call('asks'), meta: CAN_ANSWER }, { outcome: 'input_required' }],
    [call('canary4711'), { outcome: 'invalid', name: undefined, code: -32602 }],
    [{ method: 'canary4711' }, { event: 'refusal' }],
    [{ method: 'tools/list', headers: { host: 'evil.example' } },
      { event: 'refusal', outcome: 'denied', status: 403, host: 'evil.example', reason: /Host/ }]
  ]
  for (const [parts] of expected) await send(app, parts)
  const written = await lines()
  t.notMatch(JSON.stringify(written), 'canary4711')
  t.match(written.filter(({ event }) => event === 'call'), expected.slice(0, 7).map(([, line]) => line))
  t.match(written.at(-1), expected.at(-1)?.[1])
})

t.test('tells an attempt on what is hidden from a name that does not exist', async (t) => {
  const { app, lines } = await buildAudited(t)
  const requests: RequestParts[] = [
    call('hidden'), call('hiden'),
    { method: 'prompts/get', params: { name: 'hidden' } },
    { method: 'prompts/get', params: { name: 'hiden' } },
    { method: 'resources/read', params: { uri: 'secret://1' } },
    { method: 'resources/read', params: { uri: 'secrets://1' } }
  ]
  for (const parts of requests) await send(app, parts)
  t.strictSame((await lines()).map(({ outcome, name, code }) => [outcome, name, code]), [
    ['denied', 'hidden', -32602], ['invalid', undefined, -32602],
    ['denied', 'hidden', -32602], ['invalid', undefined, -32602],
    ['denied', 'secret://{id}', -32602], ['invalid', undefined, -32602]
  ])
})

t.test('says who signed in, once for each token, and who was refused', async (t) => {
  const auditFile = join(await makeFolder(t), 'audit')
  const { app, server, authorize } = await openProtectedApp(t, { options: { auditFile } })
  const headers = await authorize()
  await send(app, { ...call('whoami'), headers })
  await send(app, { ...call('whoami'), headers })
  await send(app, { ...call('lend'), headers })
  await send(app, { ...call('whoami'), headers: { authorization: 'Bearer canary4711' } })
  await send(app, call('whoami'))
  const written = await closeAndRead(app, auditFile)
  const who = { clientId: 'machine', issuer: server.issuer, address: '127.0.0.1' }
  t.match(written, [
    { event: 'sign-in', outcome: 'ok', ...who },
    { event: 'call', outcome: 'ok', name: 'whoami', ...who },
    { event: 'call', outcome: 'ok', name: 'whoami', ...who },
    { event: 'call', outcome: 'denied', name: 'lend', status: 403, ...who },
    { event: 'refusal', outcome: 'denied', status: 401, address: '127.0.0.1', reason: /token/ },
    { event: 'refusal', outcome: 'denied', status: 401, address: '127.0.0.1', reason: /token/ }
  ])
  t.equal(written.length, 6)
  t.notMatch(JSON.stringify(written), /canary4711|Bearer/)
})
