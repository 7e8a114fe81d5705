// Sidecars of plain files: what they say, and that files with scopes are hidden everywhere.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { writeByRename, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { send, type Message } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { openStream } from '../../helpers/stream.ts'
import { authenticator, resultOf, scopesOf } from '../compiled/scoped-catalog.ts'

const DEADLINE_MS = 20_000

const listOf = async (app: FastifyInstance, held = ''): Promise<Message[]> =>
  (await resultOf(app, 'resources/list', held)).resources

async function ask (app: FastifyInstance, held: string, method: string, params: object): Promise<Message> {
  return (await send(app, { method, params: { ...params }, headers: { authorization: held } })).response
}

t.test('a sidecar says what a definition says, and is no resource (148, 149)', async (t) => {
  const app = await buildApp(t, {
    'resources/docs/b.md': '# B',
    'resources/docs/b.md.meta.yaml': `
name: b
title: The second
description: What comes second.
mimeType: text/x-markdown
annotations: { priority: 0.5, audience: [user], lastModified: 2026-01-02 }
icons: [{ src: 'https://example.com/b.png' }]
_meta: { example.com/team: docs }
cache: { ttlMs: 5000, cacheScope: private }
order: -1
audit: values
`,
    'resources/a.txt': 'a',
    'resources/empty.txt': '',
    'resources/empty.txt.meta.yaml': '# nothing yet'
  })
  t.strictSame(await listOf(app), [
    {
      uri: 'file:///docs/b.md',
      name: 'b',
      title: 'The second',
      description: 'What comes second.',
      icons: [{ src: 'https://example.com/b.png' }],
      mimeType: 'text/x-markdown',
      annotations: { priority: 0.5, audience: ['user'], lastModified: '2026-01-02' },
      _meta: { 'example.com/team': 'docs' },
      size: 3
    },
    { uri: 'file:///a.txt', name: 'a.txt', mimeType: 'text/plain', size: 1 },
    { uri: 'file:///empty.txt', name: 'empty.txt', mimeType: 'text/plain', size: 0 }
  ])
  const { result } = await ask(app, '', 'resources/read', { uri: 'file:///docs/b.md' })
  t.match(result, { ttlMs: 5000, cacheScope: 'private' })
  t.match(result.contents, [{ mimeType: 'text/x-markdown', text: '# B' }])
  for (const uri of ['file:///docs/b.md.meta.yaml', 'file:///empty.txt.meta.yaml']) {
    t.match((await ask(app, '', 'resources/read', { uri })).error, { code: -32602 }, uri)
  }
  t.match((await ask(app, '', 'resources/read', { uri: 'file:///docs/' })).result, {
    ttlMs: 0, cacheScope: 'private', contents: { length: 1 }
  }, 'a directory reads as its files, and may be kept as long as the least of them, by one caller')
})

t.test('a folder\'s sidecar holds for the files below that do not say otherwise', async (t) => {
  const app = await buildApp(t, {
    'resources/folder.meta.yaml': 'cache: { ttlMs: 9000 }\nannotations: { audience: [assistant] }',
    'resources/open.txt': 'open',
    'resources/staff/folder.meta.yaml': 'scopes: [staff]\nwhenMissing: challenge',
    'resources/staff/a.txt': 'a',
    'resources/staff/b.txt': 'b',
    'resources/staff/b.txt.meta.yaml':
      'scopes: [b]\nwhenMissing: hide\ncache: { ttlMs: 1 }\nannotations: { audience: [user], priority: 1 }',
    'resources/staff/deep/c.txt': 'c'
  }, { authenticator })
  const names = async (held: string) => (await listOf(app, held)).map(({ name }) => name)
  t.strictSame(await names(''), ['open.txt', 'staff/a.txt', 'staff/deep/c.txt'])
  t.strictSame(await names('b'), ['open.txt', 'staff/a.txt', 'staff/deep/c.txt'])
  t.strictSame(await names('staff b'), ['open.txt', 'staff/a.txt', 'staff/b.txt', 'staff/deep/c.txt'])
  const cacheOf = async (uri: string) => {
    const { ttlMs, cacheScope } = (await ask(app, 'staff b', 'resources/read', { uri })).result
    return [ttlMs, cacheScope]
  }
  t.strictSame(await cacheOf('file:///open.txt'), [9000, 'public'])
  t.strictSame(await cacheOf('file:///staff/deep/c.txt'), [9000, 'private'])
  t.strictSame(await cacheOf('file:///staff/b.txt'), [1, 'private'])
  t.strictSame((await listOf(app, 'staff b')).map(({ annotations }) => annotations), [
    { audience: ['assistant'] }, { audience: ['assistant'] }, { audience: ['user'], priority: 1 },
    { audience: ['assistant'] }
  ])
  const denied = await send(app, {
    method: 'resources/read', params: { uri: 'file:///staff/deep' }, headers: { authorization: 'b' }
  })
  t.equal(denied.status, 403, 'a directory of files that the caller sees and may not read (110)')
  t.match(denied.headers['www-authenticate'], /scope="staff b"/, 'and it names what the token has')
})

t.test('every problem names the sidecar, the place and the rule', async (t) => {
  const cases: ReadonlyArray<[why: string, path: string, yaml: string, place: string, rule: RegExp]> = [
    ['a misspelt key', 'a.md.meta.yaml', 'titel: A', '', /^titel: is not known here; did you mean title\?$/],
    ['a misspelt key within', 'a.md.meta.yaml', 'annotations: { priorty: 1 }', '', /^annotations\.priorty: .*priority\?$/],
    ['a key like no other', 'a.md.meta.yaml', 'uri: x', '', /^uri: is not known here; the settings are title, /],
    ['another type', 'a.md.meta.yaml', 'title: 5', '', /^title: must be string, got 5$/],
    ['several', 'a.md.meta.yaml', 'titel: A\norder: b', '', /^titel: .*; order: must be number/],
    ['no mapping', 'a.md.meta.yaml', '- a', '', /^value: must be object/],
    ['no YAML', 'a.md.meta.yaml', 'a: 1\nb: [', 'line 2', /./],
    ['no file', 'gone.md.meta.yaml', 'title: A', '', /^describes gone\.md, and no plain file beside it/],
    ['a module', 'x.resource.ts.meta.yaml', 'title: A', '', /^describes x\.resource\.ts, and no plain file/],
    ['a sidecar of a sidecar', 'a.md.meta.yaml.meta.yaml', '', '', /^describes a\.md\.meta\.yaml, and no plain file/],
    ['another ending', 'a.md.meta.yml', 'scopes: [a]', '', /^is named like a sidecar: sidecars end in \.meta\.yaml$/],
    ['scopes and a public cache', 'a.md.meta.yaml', 'scopes: [a]\ncache: { cacheScope: public }', '', /cannot be public/],
    ['whenMissing alone', 'a.md.meta.yaml', 'whenMissing: hide', '', /^whenMissing: needs scopes/],
    ['a title of a folder', 'folder.meta.yaml', 'title: A', '', /^title: is not known here/],
    ['whenMissing alone, of a folder', 'none/folder.meta.yaml', 'whenMissing: hide', '', /^whenMissing: needs scopes/],
    ['a priority of a folder', 'folder.meta.yaml', 'annotations: { priority: 1 }', '', /^annotations\.priority: is not/],
    ['too large', 'a.md.meta.yaml', `title: ${'x'.repeat(65_536)}`, '', /^must have at most 65536 bytes, got 65543$/]
  ]
  for (const [why, path, yaml, place, rule] of cases) {
    const problems = await problemsOf(t, { 'resources/a.md': 'A', [`resources/${path}`]: yaml })
    t.match(problems, [{ file: `resources/${path}`, place, rule }], why)
    t.equal(problems.length, 1, why)
  }
})

const SECRET: Files = {
  'server.yaml': 'name: files\nscopes:\n  - { name: admin, includes: [a, b] }',
  'resources/open.txt': 'open',
  'resources/x&y/open.txt': 'open too',
  'resources/x&y/secret +1.txt': 'secret one',
  'resources/x&y/secret +1.txt.meta.yaml': 'scopes: [a]',
  'resources/vault/folder.meta.yaml': 'scopes: [a]',
  'resources/vault/gold.txt': 'gold',
  'resources/vault/deep/ring.txt': 'ring',
  'resources/vault/deep/ring.txt.meta.yaml': 'scopes: [b]',
  // So that every list differs by caller in any case.
  'resources/nobody.txt': 'nobody',
  'resources/nobody.txt.meta.yaml': 'scopes: [nobody]'
}

const SPELLINGS = [
  'file:///', 'file:///x&y', 'file:///x%26y/', 'file:///vault', 'file:///vault/', 'file:///v%61ult/', 'file:///vault/deep/',
  'file:///open.txt', 'file:///x%26y/secret%20%2B1.txt', 'file:///x&y/secret +1.txt', 'file:///x&y/secret%20+1.txt',
  'file:///x%26y/%73ecret%20%2b1.txt', 'file:///vault/gold.txt', 'file:///v%61ult/gold.txt', 'file:///vault%2Fgold.txt',
  'file:///vault/deep/ring.txt', 'file:///vault/./gold.txt', 'file:///open.txt/../vault/gold.txt', 'file:///nobody.txt'
]

/** The files of SECRET that a caller with these scopes may see. */
function seenBy (granted: ReadonlySet<string>): Files {
  const needed: { readonly [path: string]: string } = {
    'resources/x&y/secret +1.txt': 'a',
    'resources/x&y/secret +1.txt.meta.yaml': 'a',
    'resources/vault/folder.meta.yaml': 'a',
    'resources/vault/gold.txt': 'a',
    'resources/vault/deep/ring.txt': 'a b',
    'resources/vault/deep/ring.txt.meta.yaml': 'a b'
  }
  return Object.fromEntries(Object.entries(SECRET).filter(
    ([path]) => [...scopesOf(needed[path] ?? '')].every((scope) => granted.has(scope))
  ))
}

t.test('what a caller may not see answers as if it were not there (107, 148, 154, 155)', async (t) => {
  const app = await buildApp(t, SECRET, { authenticator })
  const callers = ['', 'a', 'b', 'a b', 'admin']
  for (const held of callers) {
    const granted = held.replace('admin', 'a b')
    const without = await buildApp(t, seenBy(scopesOf(granted)), { authenticator })
    const compare = async (method: string, params: object, what: string) => {
      const expected = await ask(without, held, method, params)
      t.strictSame(await ask(app, held, method, params), expected, `${held}: ${what}`)
    }
    await compare('resources/list', {}, 'list')
    await compare('resources/templates/list', {}, 'templates')
    for (const uri of SPELLINGS) await compare('resources/read', { uri }, uri)
    for (const value of ['', 'secret', 'vault', 'ring', 'deep/']) {
      await compare('completion/complete', {
        ref: { type: 'ref/resource', uri: 'file:///{+path}' }, argument: { name: 'path', value }
      }, `completion of ${JSON.stringify(value)}`)
    }
  }
  const texts = async (held: string, uri: string) => {
    const { result } = await ask(app, held, 'resources/read', { uri })
    return result?.contents.map((one: Message) => one.text || one.uri)
  }
  t.strictSame(await texts('a', 'file:///vault/'), ['gold'])
  t.strictSame(await texts('admin', 'file:///vault/'), ['file:///vault/deep/', 'gold'])
  t.strictSame(await texts('', 'file:///vault/'), undefined)
  for (const uri of SPELLINGS.slice(8, 12)) t.strictSame(await texts('a', uri), ['secret one'], uri)
})

t.test('the sidecar of the whole folder holds for its template too', async (t) => {
  const files = { 'resources/folder.meta.yaml': 'scopes: [a]', 'resources/x.txt': 'x' }
  const app = await buildApp(t, files, { authenticator })
  t.strictSame((await resultOf(app, 'resources/templates/list', '')).resourceTemplates, [])
  t.equal((await resultOf(app, 'resources/templates/list', 'a')).resourceTemplates.length, 1)
  t.match((await ask(app, '', 'resources/read', { uri: 'file:///' })).error, { code: -32602 })
  t.match((await ask(app, 'a', 'resources/read', { uri: 'file:///' })).result, { cacheScope: 'private' })
})

t.test('a caller hears nothing of a hidden file, also when it is gone (162, 198)', async (t) => {
  const root = await writeCatalog(t, SECRET)
  const app = await buildApp(t, {}, { authenticator, catalog: root, watch: 'on' })
  const url = await listen(app)
  const uris = ['file:///', 'file:///vault/gold.txt']
  const open = async (held: string) => await openStream(t, url, {
    method: 'subscriptions/listen',
    params: { notifications: { resourcesListChanged: true, resourceSubscriptions: uris } },
    headers: { authorization: held }
  })
  const session = await openSession(t, url, { headers: { authorization: 'b' } })
  await session.request('resources/subscribe', { uri: 'file:///' })
  const [stranger, holder, legacy] = [await open('b'), await open('a'), await session.get()]
  const heard = (stream: { readonly messages: readonly Message[] }) => stream.messages.map(
    ({ method, params }) => params?.uri ?? method
  ).filter((one) => !one.includes('acknowledged'))
  const LIST = 'notifications/resources/list_changed'
  const GOLD = 'file:///vault/gold.txt'

  await writeByRename(root, 'resources/vault/gold.txt', 'gold!')
  await until(() => heard(holder).length === 2, 'the change of the file', DEADLINE_MS)
  await rm(join(root, 'resources/vault/gold.txt'))
  await until(() => heard(holder).length === 4, 'the end of the file', DEADLINE_MS)
  await writeByRename(root, 'resources/open.txt', 'open!')
  await until(() => heard(legacy).length >= 2 && heard(stranger).length >= 2, 'the open file', DEADLINE_MS)
  await until(() => heard(holder).length === 6, 'the open file', DEADLINE_MS)
  t.strictSame(heard(holder).toSorted(), [GOLD, GOLD, LIST, LIST, LIST, 'file:///open.txt'].toSorted())
  t.strictSame(heard(stranger).toSorted(), [LIST, 'file:///open.txt'].toSorted())
  t.strictSame(heard(legacy).toSorted(), [LIST, 'file:///open.txt'].toSorted())
})

t.test('an edited sidecar reloads, and is announced only where the list changed', async (t) => {
  const root = await writeCatalog(t, {
    'resources/a.txt': 'a', 'resources/a.txt.meta.yaml': 'title: One', 'resources/b.txt': 'b'
  })
  const app = await buildApp(t, {}, { authenticator, catalog: root, watch: 'on' })
  const stream = await openStream(t, await listen(app), {
    method: 'subscriptions/listen',
    params: { notifications: { resourcesListChanged: true, resourceSubscriptions: ['file:///'] } }
  })
  await stream.next()
  const heard = () => stream.messages.map(({ method, params }) => params?.uri ?? method).filter(
    (one) => !one.includes('acknowledged')
  )
  const ttl = async () => (await ask(app, '', 'resources/read', { uri: 'file:///a.txt' })).result.ttlMs
  await writeInPlace(root, 'resources/a.txt.meta.yaml', 'title: One\ncache: { ttlMs: 7 }')
  for (let looks = 0; await ttl() !== 7; looks++) {
    if (looks > 1000) throw new Error('the sidecar was not loaded')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await writeInPlace(root, 'resources/a.txt.meta.yaml', 'title: Two')
  await until(() => heard().length > 0, 'the title', DEADLINE_MS)
  t.strictSame(heard(), ['notifications/resources/list_changed'])
  await writeInPlace(root, 'resources/a.txt.meta.yaml', 'title: Two\nmimeType: text/x-a')
  await until(() => heard().length >= 3, 'the type', DEADLINE_MS)
  t.strictSame(heard().slice(1).toSorted(), ['file:///a.txt', 'notifications/resources/list_changed'])
})
