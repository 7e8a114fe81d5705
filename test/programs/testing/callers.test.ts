// Callers, and the errors of their requests.

import { join } from 'node:path'
import t from 'tap'
import { openCatalog, RequestError } from '../../../src/testing.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { open, toModule } from './open.ts'

const NOTES = toModule(`export const notes = defineHandle({
  kind: 'note', prefix: 'nte', idleTtlMs: 60_000, createdBy: 'create_note',
  schema: { type: 'object', properties: { text: { type: 'string' } } }
})
const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
export const create = defineTool({
  name: 'create_note', run: async (_, ctx) => (await ctx.handles(notes).create({ text: 'mine' })).id
})
export const read = defineTool({
  name: 'read_note', inputSchema, run: async ({ id }, ctx) => (await ctx.handles(notes).read(id)).text
})`)

t.test('callers share one state, and each has its own handles', async (t) => {
  const catalog = await open(t, { 'tools/notes.ts': NOTES })
  const ada = catalog.as({ subject: 'ada' })
  const { text: id } = await ada.call('create_note')
  t.equal((await ada.call('read_note', { id })).text, 'mine')
  t.equal((await catalog.as({ subject: 'ada', scopes: ['more'] }).call('read_note', { id })).text, 'mine')
  for (const other of [catalog, ada.as({ subject: 'bob' }), ada.as()]) {
    t.match(await other.call('read_note', { id }), { isError: true, text: /create_note makes a new one/ })
  }
})

t.test('a caller is whom the test says', async (t) => {
  const catalog = await open(t, {
    'tools/who.ts': toolModule('who', '', `(_, { principal: { scopes, ...rest }, client: { info } }) =>
      JSON.stringify({ ...rest, scopes: [...scopes], client: info.name })`),
    'tools/own.ts': toolModule('own', "authorize: ({ claims }) => claims?.tenant === 'a' || 'Not yours.'")
  })
  t.strictSame(JSON.parse((await catalog.call('who')).text), { scopes: [], client: 'trivet/testing' })
  const principal = {
    subject: 'ada', clientId: 'app', issuer: 'https://x', claims: { tenant: 'a' }, expiresAt: 5, scopes: ['b']
  }
  const ada = catalog.as(principal, { info: { name: 'editor', version: '2' } })
  t.strictSame(JSON.parse((await ada.call('who')).text), { ...principal, client: 'editor' })
  t.equal((await ada.call('own')).text, 'ok')
  t.match(await catalog.call('own'), { isError: true, text: 'Not yours.' })
})

t.test('a protocol error rejects, with its code and data', async (t) => {
  const catalog = await open(t, {
    'tools/paid.ts': toolModule('paid', "scopes: ['orders:write'], whenMissing: 'challenge'"),
    'tools/secret.ts': toolModule('secret', "scopes: ['orders:write']"),
    'prompts/p.ts': toModule(
      "export const p = definePrompt({ name: 'p', render () { throw new ToolError('Not today.') } })"
    )
  })
  await t.rejects(catalog.call('none'), { name: 'RequestError', code: -32602, message: /^Tool none not found/ })
  await t.rejects(catalog.call('secret'), { code: -32602, message: /^Tool secret not found/ })
  await t.rejects(catalog.call('paid'), { code: 403, data: { requiredScopes: ['orders:write'] } })
  await t.rejects(catalog.prompt('none'), { code: -32602 })
  await t.rejects(catalog.read('x://none'), { code: -32602, data: { uri: 'x://none' } })
  await t.rejects(catalog.complete({ prompt: 'p' }, 'x', ''), { code: -32602, message: /no argument "x"/ })
  await t.rejects(catalog.prompt('p'), { code: 422, message: 'Not today.' })
  t.equal((await catalog.as({ scopes: ['orders:write'] }).call('paid')).text, 'ok')
})

t.test('an internal error has the error of the handler as its cause, with file and line', async (t) => {
  const folder = await writeCatalog(t, {
    'tools/broken.ts': `${toModule('')}
interface Order { total: number }
const totalOf = (order?: Order): number => order!.total

export default defineTool({ name: 'broken', run: () => String(totalOf(undefined)) })
export const lies = defineTool({ name: 'lies', outputSchema: { type: 'object', required: ['a'] }, run: () => ({}) as never })
`
  })
  const catalog = await openCatalog(folder)
  t.teardown(async () => await catalog.close())
  const error = await catalog.call('broken').catch((error: unknown) => error)
  if (!(error instanceof RequestError) || !(error.cause instanceof Error)) throw new Error('has no cause')
  t.match(error, { code: -32603, message: 'Internal error', data: { requestId: String } })
  t.equal(error.cause.name, 'TypeError')
  t.match(error.cause.stack, `${join(folder, 'tools/broken.ts')}:4:`)
  t.match(error.stack, /callers\.test\.ts/, 'and its own stack names the line of the test')
  await t.rejects(catalog.call('lies'), { code: -32603, cause: { message: /outputSchema: a: is required/ } })
})

t.test('limits, time limits and departures hold as they are served', async (t) => {
  const catalog = await open(t, {
    'tools/once.ts': toolModule('once', "limits: { calls: '1/1m' }"),
    'tools/slow.ts': toolModule(
      'slow', 'timeoutMs: 50', `async (_, { signal }) => await new Promise((resolve, reject) => {
        signal.onabort = () => reject(signal.reason)
      })`
    ),
    'tools/waits.ts': toolModule('waits', '', `async (_, { signal }) => await new Promise((resolve) => {
      signal.onabort = () => resolve('too late')
    })`)
  })
  t.equal((await catalog.call('once')).isError, false)
  t.match(await catalog.call('once'), { isError: true, text: /limit/ })
  t.match(await catalog.call('slow'), { isError: true, text: /did not finish within 50 ms/ })
  const signal = AbortSignal.timeout(20)
  await t.rejects(catalog.call('waits', {}, { signal }), { code: -32603, message: /cancelled/ })
})

t.test('a misspelt name of an option is refused, with the one that it may mean', async (t) => {
  const folder = await writeCatalog(t, { 'tools/a.ts': toolModule('a') })
  // A test in JavaScript has no types.
  const untyped = (options: object): object => options
  for (const [options, message] of [
    [untyped({ setings: {} }), /"setings" is no option of openCatalog; did you mean settings\?/],
    [untyped({ logLevels: 'info' }), /"logLevels" is no option of openCatalog; did you mean logLevel\?/]
  ] as const) await t.rejects(openCatalog(folder, options), { name: 'ConfigError', message })
  await t.rejects(openCatalog(folder, JSON.parse('{"pageSize":3}')), { message: /set pageSize in server\.yaml/ })
  const catalog = await open(t, { 'tools/a.ts': toolModule('a') })
  t.throws(() => catalog.as(untyped({ subjet: 'ada' })), {
    name: 'TypeError', message: '"subjet" is no option of a caller; did you mean subject?'
  })
  t.throws(() => catalog.as({}, untyped({ roots: [] })), {
    message: '"roots" is no option of a client: use capabilities, info'
  })
  await t.rejects(catalog.call('a', {}, untyped({ answrs: {} })), {
    message: '"answrs" is no option of a call; did you mean answers?'
  })
})
