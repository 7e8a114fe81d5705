// skills/list, skills/get and resources/directory/read, and who declares them.
// https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx

import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { authenticator } from '../../catalog/compiled/guarded-catalog.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { send, type Message } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'

const EXTENSION = 'io.modelcontextprotocol/skills'

const main = (path: string, metadata = '') => ({
  [`skills/${path}/SKILL.md`]:
    `---\nname: ${path.split('/').at(-1)}\ndescription: D.\n${metadata}---\nSteps.\n`
})
const guarded = (scopes: string, more = '') => `metadata:\n  trivet/scopes: ${scopes}\n${more}`

const FILES: Files = {
  'server.yaml': 'name: s\ncache:\n  listTtlMs: 9000\n  readTtlMs: 700\n',
  ...main('late-orders'),
  'skills/late-orders/templates/b.md': 'b',
  'skills/late-orders/templates/ä/c.md': 'c',
  ...main('acme/refunds', guarded('a')),
  ...main('acme/pay-back', guarded('b', '  trivet/whenMissing: challenge\n'))
}

async function ask (
  app: FastifyInstance, method: string, params: object = {}, authorization?: string
): Promise<Message> {
  const headers = { authorization }
  return (await send(app, { method, params: { ...params }, headers })).response
}

const urisOf = ({ result }: Message): string[] => [result.skills, result.resources].flat().flatMap(
  (one) => one === undefined ? [] : [one.uri]
)

t.test('a catalog with skills declares the extension, and no other one does', async (t) => {
  const extensionsOf = async (files: Files) =>
    (await ask(await buildApp(t, files), 'server/discover')).result.capabilities.extensions
  const task = { 'tools/t.ts': toolModule('t', "task: 'allowed'") }
  t.strictSame(await extensionsOf(FILES), { [EXTENSION]: { directoryRead: true } })
  t.strictSame(await extensionsOf({ 'resources/skills/a/SKILL.md': '' }), undefined)
  t.strictSame(await extensionsOf({ ...FILES, ...task }), {
    'io.modelcontextprotocol/tasks': {}, [EXTENSION]: { directoryRead: true }
  })
})

t.test('the list comes in pages, each skill whole, with the hints of other lists', async (t) => {
  const app = await buildApp(t, { ...FILES, ...main('zoo') }, { authenticator, constants: { pageSize: 2 } })
  const first = await ask(app, 'skills/list')
  t.strictSame(urisOf(first), ['skill://acme/pay-back/SKILL.md', 'skill://late-orders/SKILL.md'])
  t.match(first.result, { ttlMs: 9000, cacheScope: 'private' })
  const second = await ask(app, 'skills/list', { cursor: first.result.nextCursor })
  t.strictSame(urisOf(second), ['skill://zoo/SKILL.md'])
  t.notOk('nextCursor' in second.result)
  t.match(await ask(app, 'skills/list', { cursor: 'nonsense' }), { error: { code: -32602, message: /cursor/ } })
  const open = await ask(await buildApp(t, main('a')), 'skills/list')
  t.match(open.result, { cacheScope: 'public' }, 'the same for every caller')
})

t.test('a skill is found by the URI of its SKILL.md, with the entry of the list', async (t) => {
  const app = await buildApp(t, FILES, { authenticator })
  for (const authorization of [undefined, 'a', 'a b']) {
    for (const skill of (await ask(app, 'skills/list', {}, authorization)).result.skills) {
      const { result } = await ask(app, 'skills/get', { uri: skill.uri }, authorization)
      t.strictSame(result.skill, skill)
      t.equal(result.ttlMs, 9000)
      t.equal(result.cacheScope, skill.uri.includes('refunds') ? 'private' : 'public')
    }
  }
})

t.test('what is no skill is answered alike, whether or not it exists', async (t) => {
  const app = await buildApp(t, FILES, { authenticator })
  const paths = ['none/SKILL.md', 'acme/refunds/SKILL.md', 'late-orders', 'late-orders/templates/b.md']
  for (const path of paths) {
    const { error } = await ask(app, 'skills/get', { uri: `skill://${path}` })
    const message = `Invalid params: "skill://${path}" is the SKILL.md of no skill`
    t.strictSame(error, { code: -32602, message })
  }
  t.match(await ask(app, 'skills/get'), { error: { code: -32602 } })
})

t.test('a directory has its files as resources/list has them, and its directories', async (t) => {
  const app = await buildApp(t, FILES, { authenticator })
  const { result: { resources } } = await ask(app, 'resources/list')
  const entryOf = (uri: string) => resources.find((one: Message) => one.uri === uri)
  const directory = (uri: string, name: string) => ({ uri, name, mimeType: 'inode/directory' })
  const read = async (uri: string) => (await ask(app, 'resources/directory/read', { uri })).result.resources
  t.strictSame(await read('skill://late-orders'), [
    entryOf('skill://late-orders/SKILL.md'), directory('skill://late-orders/templates', 'templates')
  ])
  t.strictSame(await read('skill://late-orders/templates'), [
    directory('skill://late-orders/templates/%C3%A4', 'ä'), entryOf('skill://late-orders/templates/b.md')
  ])
  t.strictSame(await read('skill://late-orders/templates/%C3%A4'), [
    entryOf('skill://late-orders/templates/%C3%A4/c.md')
  ])
})

t.test('a directory above skills has those that the caller sees', async (t) => {
  const app = await buildApp(t, FILES, { authenticator })
  const seen = async (authorization?: string) =>
    urisOf(await ask(app, 'resources/directory/read', { uri: 'skill://acme' }, authorization))
  t.strictSame(await seen(), ['skill://acme/pay-back'])
  t.strictSame(await seen('a'), ['skill://acme/pay-back', 'skill://acme/refunds'])
})

t.test('a directory comes in pages', async (t) => {
  const app = await buildApp(t, FILES, { constants: { pageSize: 1 } })
  const uri = 'skill://late-orders/templates'
  const first = await ask(app, 'resources/directory/read', { uri })
  const second = await ask(app, 'resources/directory/read', { uri, cursor: first.result.nextCursor })
  t.strictSame([...urisOf(first), ...urisOf(second)], [`${uri}/%C3%A4`, `${uri}/b.md`])
  t.notOk('nextCursor' in second.result)
  t.match(await ask(app, 'resources/directory/read', { uri, cursor: 'x' }), { error: { code: -32602 } })
})

t.test('what is no directory of a skill is answered alike, whether or not it exists', async (t) => {
  const app = await buildApp(t, { ...FILES, 'resources/docs/a.md': '' }, { authenticator })
  const uris = [
    'skill://none', 'skill://acme/refunds', 'skill://late-orders/SKILL.md', 'skill://late-orders/templates/',
    'skill://', 'skill:/', 'file:///docs'
  ]
  for (const uri of uris) {
    const { error } = await ask(app, 'resources/directory/read', { uri })
    t.strictSame(error, { code: -32602, message: `Invalid params: "${uri}" is no directory of a skill` })
  }
})

t.test('a skill that asks for scopes is listed, and its files cannot be read without them', async (t) => {
  const app = await buildApp(t, FILES, { authenticator })
  const uri = 'skill://acme/pay-back/SKILL.md'
  t.ok(urisOf(await ask(app, 'skills/list')).includes(uri))
  const refused = await send(app, { method: 'resources/read', params: { uri } })
  t.equal(refused.status, 403)
  t.match(refused.response.error, { data: { requiredScopes: ['b'] } })
  t.match(await ask(app, 'resources/read', { uri }, 'b'), { result: { contents: [{ uri }] } })
})

t.test('files are kept as plain files are: for all callers only where all may read them', async (t) => {
  const app = await buildApp(t, FILES, { authenticator })
  const hintsOf = async (path: string) =>
    (await ask(app, 'resources/read', { uri: `skill://${path}` }, 'a b')).result
  t.match(await hintsOf('late-orders/templates/b.md'), { ttlMs: 700, cacheScope: 'public' })
  t.match(await hintsOf('acme/refunds/SKILL.md'), { ttlMs: 700, cacheScope: 'private' })
})

t.test('a session of an earlier revision has the files as resources, and no methods of skills', async (t) => {
  const url = await listen(await buildApp(t, FILES, { authenticator }))
  const session = await openSession(t, url)
  t.notOk('extensions' in session.initialized.capabilities)
  const uri = 'skill://late-orders/templates/b.md'
  t.ok(urisOf({ result: (await session.request('resources/list')).result }).includes(uri))
  t.match((await session.request('resources/read', { uri })).result, { contents: [{ uri, text: 'b' }] })
  for (const method of ['skills/list', 'skills/get', 'resources/directory/read']) {
    t.match((await session.request(method, { uri })).error, { code: -32601 }, method)
  }
})
