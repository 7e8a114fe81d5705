import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
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
