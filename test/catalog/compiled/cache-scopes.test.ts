import type { FastifyInstance } from 'fastify'
import { join } from 'node:path'
import t from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { buildApp } from '../../helpers/app.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import type { Message } from '../../helpers/request.ts'
import { authenticator, CATALOG, moduleOf, resultOf } from './scoped-catalog.ts'

async function cacheScopes (app: FastifyInstance, authorization = ''): Promise<{ [method: string]: string }> {
  const found: { [method: string]: string } = {}
  for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
    found[method] = (await resultOf(app, method, authorization)).cacheScope
  }
  return found
}

t.test('a list is public only when scopes cannot change it (109, 149, 186, 189)', async (t) => {
  const app = await buildApp(
    t,
    {
      ...CATALOG,
      'prompts/all.ts': moduleOf("export default definePrompt({ name: 'open', render: () => 'open' })")
    },
    { authenticator }
  )
  const expected = {
    'tools/list': 'private',
    'prompts/list': 'public',
    'resources/list': 'private',
    'resources/templates/list': 'private'
  }
  for (const scopes of ['', 'mail:read', 'docs:read', 'docs:read docs:write']) {
    t.strictSame(await cacheScopes(app, scopes), expected, `scopes ${JSON.stringify(scopes)}`)
  }
  const open = await buildApp(t, {}, { authenticator })
  t.strictSame(Object.values(await cacheScopes(open)), ['public', 'public', 'public', 'public'])
  const listedOnly = await buildApp(
    t,
    {
      'resources/t.resource.ts': moduleOf(
        "export default defineResourceTemplate({ uriTemplate: 's://{id}', name: 's', scopes: ['s'], list: " +
          "() => [{ name: 'one', uri: 's://one' }], read: () => '' })"
      )
    },
    { authenticator }
  )
  t.match(
    await cacheScopes(listedOnly),
    { 'resources/list': 'private', 'resources/templates/list': 'private', 'tools/list': 'public' },
    'what a template lists has its scopes'
  )
})

t.test('every page of a list has the same hints (188)', async (t) => {
  const tool = (name: string, scopes = '') => `defineTool({ name: '${name}', ${scopes}run: () => '' })`
  const app = await buildApp(
    t,
    {
      'server.yaml': 'pageSize: 1',
      'tools/all.ts': moduleOf(
        `export default [${tool('a')}, ${tool('b')}, ${tool('c')}, ${tool('d', "scopes: ['d'], ")}]`
      )
    },
    { authenticator }
  )
  for (const [scopes, names] of [['', ['a', 'b', 'c']], ['d', ['a', 'b', 'c', 'd']]] as const) {
    const pages: Message[] = []
    for (
      let cursor: string | undefined,
        page: Message; page === undefined || cursor !== undefined; cursor = page.nextCursor
    ) {
      page = await resultOf(app, 'tools/list', scopes, cursor === undefined ? {} : { cursor })
      pages.push(page)
    }
    t.strictSame(pages.map(({ tools }) => tools[0].name), names)
    t.strictSame(
      new Set(pages.map(({ cacheScope, ttlMs }) => `${cacheScope} ${ttlMs}`)), new Set(['private 60000'])
    )
  }
})

t.test('contents are public only for files, or when the author says so (149, 186, 189)', async (t) => {
  const app = await buildApp(t, { ...CATALOG, 'server.yaml': 'cache: { readTtlMs: 7 }' }, { authenticator })
  const hintsOf = async (uri: string): Promise<unknown> => {
    const { ttlMs, cacheScope } = await resultOf(app, 'resources/read', 'docs:read docs:write', { uri })
    return { ttlMs, cacheScope }
  }
  t.strictSame(await hintsOf('doc://open'), { ttlMs: 7, cacheScope: 'private' })
  t.strictSame(await hintsOf('doc://shared'), { ttlMs: 5, cacheScope: 'public' })
  t.strictSame(await hintsOf('doc://secret'), { ttlMs: 5, cacheScope: 'private' })
  t.strictSame(await hintsOf('secret://one'), { ttlMs: 7, cacheScope: 'private' })
  t.strictSame(await hintsOf('file:///plain.txt'), { ttlMs: 7, cacheScope: 'public' })
})

t.test('nothing is public where callers need a token, unless the author says so (190)', async (t) => {
  const closed = { authenticate: authenticator.authenticate }
  const files = {
    'resources/a.txt': 'a',
    'resources/b.txt': 'b',
    'resources/b.txt.meta.yaml': 'cache: { cacheScope: public }',
    'skills/s/SKILL.md': '---\nname: s\ndescription: S.\n---\nSteps.\n',
    'apps/p/index.html': '<!doctype html><title>P</title>'
  }
  const requests: ReadonlyArray<readonly [method: string, params?: { readonly uri: string }]> = [
    ['server/discover'],
    ['tools/list'],
    ['resources/list'],
    ['skills/list'],
    ['skills/get', { uri: 'skill://s/SKILL.md' }],
    ['resources/read', { uri: 'file:///a.txt' }],
    ['resources/read', { uri: 'file:///' }],
    ['resources/read', { uri: 'skill://s/SKILL.md' }],
    ['resources/read', { uri: 'ui://s/p' }]
  ]
  const scopesFor = async (app: FastifyInstance) => await Promise.all(requests.map(
    async ([method, params]) => (await resultOf(app, method, 'any', { ...params })).cacheScope
  ))
  const app = await buildApp(t, { ...files, 'server.yaml': 'name: s' }, { authenticator: closed })
  t.strictSame(await scopesFor(app), requests.map(() => 'private'))
  t.equal((await resultOf(app, 'resources/read', 'any', { uri: 'file:///b.txt' })).cacheScope, 'public')
  const said = { ...files, 'server.yaml': 'name: s\ncache: { cacheScope: public }\n' }
  const open = await buildApp(t, said, { authenticator: closed })
  t.strictSame(await scopesFor(open), requests.map(() => 'public'))
})

t.test('modes of authentication admit anonymous callers only with none', async (t) => {
  const expiresAt = new Date('2100-01-01T00:00:00Z')
  const { token, entry } = createStaticToken({ subject: 'ada', scopes: [], expiresAt })
  const authTokens = join(await writeCatalog(t, { 'tokens.yaml': `${entry}\n` }), 'tokens.yaml')
  const scopeOf = async (options: AppOptions) => {
    const app = await buildApp(t, { 'resources/a.txt': 'a' }, options)
    return (await resultOf(app, 'tools/list', options.auth === undefined ? '' : `Bearer ${token}`)).cacheScope
  }
  t.equal(await scopeOf({}), 'public')
  t.equal(await scopeOf({ auth: ['tokens'], authTokens }), 'private')
  t.equal(await scopeOf({ auth: ['tokens', 'none'], authTokens }), 'public')
})
