import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { Authenticator } from '../../src/access/authenticator.ts'
import { buildApp } from '../helpers/app.ts'
import { writeCatalog, type Files } from '../helpers/catalog-folder.ts'
import { loadSnapshot } from '../helpers/load-catalog.ts'
import { send, type Message } from '../helpers/request.ts'

const scopesOf = (text: string): ReadonlySet<string> => new Set(
  text.split(' ').filter((scope) => scope !== '')
)

/** Grants the scopes that stand in the header. */
const authenticator: Authenticator = {
  authenticate: (authorization = '') => ({ subject: 'someone', scopes: scopesOf(authorization) })
}

const moduleOf =
  (text: string): string =>
    `import { definePrompt, defineResource, defineResourceTemplate, defineTool } from 'trivet'\n${text}\n`

const CATALOG: Files = {
  'tools/all.ts': moduleOf(`export default [
    defineTool({ name: 'open', run: () => 'open' }),
    defineTool({ name: 'read', scopes: ['docs:read'], run: () => 'read' }),
    defineTool({ name: 'both', scopes: ['docs:read', 'docs:write'], inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }, requiredCapabilities: { sampling: {} }, run: () => 'both' })
  ]`),
  'prompts/all.ts': moduleOf(`export default [
    definePrompt({ name: 'open', render: () => 'open' }),
    definePrompt({ name: 'write', scopes: ['docs:write'], arguments: [{ name: 'a', complete: ['secret'] }], render: () => 'write' })
  ]`),
  'resources/all.resource.ts': moduleOf(`export default [
    defineResource({ uri: 'doc://open', name: 'open', read: () => 'open' }),
    defineResource({ uri: 'doc://shared', name: 'shared', cache: { ttlMs: 5, cacheScope: 'public' }, read: () => 'shared' }),
    defineResource({ uri: 'doc://secret', name: 'secret', scopes: ['docs:read'], cache: { ttlMs: 5 }, read: () => 'secret' }),
    defineResourceTemplate({ uriTemplate: 'secret://{id}', name: 'secrets', scopes: ['docs:write'], complete: { id: ['one'] }, list: () => [{ name: 'one', variables: { id: 'one' } }], read: ({ id }) => 'secret ' + id }),
    defineResourceTemplate({ uriTemplate: 'open://{id}', name: 'opens', read: ({ id }) => 'open ' + id })
  ]`),
  'resources/plain.txt': 'plain'
}

interface Lists { tools: string[], prompts: string[], resources: string[], templates: string[] }

async function resultOf (
  app: FastifyInstance, method: string, authorization: string,
  params: { readonly [key: string]: unknown } = {}
): Promise<Message> {
  return (await send(app, { method, params, headers: { authorization } })).response.result
}

async function listsOf (app: FastifyInstance, authorization: string): Promise<Lists> {
  const { tools } = await resultOf(app, 'tools/list', authorization)
  const { prompts } = await resultOf(app, 'prompts/list', authorization)
  const { resources } = await resultOf(app, 'resources/list', authorization)
  const { resourceTemplates } = await resultOf(app, 'resources/templates/list', authorization)
  const names = (all: Message[]): string[] => all.map(({ name }) => name)
  return {
    tools: names(tools),
    prompts: names(prompts),
    resources: names(resources),
    templates: names(resourceTemplates)
  }
}

t.test('shows each caller what their scopes allow, and nothing else (107, 136, 148, 159, 165)', async (t) => {
  const app = await buildApp(t, CATALOG, { authenticator })
  const open = {
    tools: ['open'],
    prompts: ['open'],
    resources: ['open', 'shared', 'plain.txt'],
    templates: ['files', 'opens']
  }
  const cases: ReadonlyArray<readonly [string, Lists]> = [
    ['', open],
    ['mail:read admin', open],
    ['docs:read', { ...open, tools: ['open', 'read'], resources: ['open', 'secret', 'shared', 'plain.txt'] }],
    [
      'docs:write',
      {
        ...open,
        prompts: ['open', 'write'],
        resources: ['open', 'shared', 'plain.txt', 'one'],
        templates: ['files', 'opens', 'secrets']
      }
    ],
    ['docs:write other docs:read', {
      tools: ['both', 'open', 'read'],
      prompts: ['open', 'write'],
      resources: [
        'open', 'secret', 'shared', 'plain.txt', 'one'
      ],
      templates: ['files', 'opens', 'secrets']
    }],
    ['docs', open],
    ['docs:read:more', open]
  ]
  for (const [scopes, expected] of cases) {
    const seen = await listsOf(app, scopes)
    t.strictSame(
      { ...seen, resources: seen.resources.toSorted() },
      { ...expected, resources: expected.resources.toSorted() }, `scopes ${JSON.stringify(scopes)}`
    )
  }
})

t.test('answers about what a caller may not see as about what does not exist (122, 154, 167, 177, ' +
  '179)', async (t) => {
  const app = await buildApp(t, CATALOG, { authenticator })
  const errorOf = async (method: string, params: { readonly [key: string]: unknown }): Promise<string> => {
    const { status, response } = await send(app, { method, params, headers: { authorization: 'mail:read' } })
    return JSON.stringify([status, response.error]).replaceAll(
      /both|read|write|doc:\/\/secret|secret:\/\/(?:one|\{id\})|none:\/\/none|none/g, '…'
    )
  }
  const pairs: ReadonlyArray<readonly [
    string, { readonly [key: string]: unknown }, { readonly [key: string]: unknown }
  ]> = [
    ['tools/call', { name: 'read' }, { name: 'none' }],
    [
      'tools/call', { name: 'both', arguments: { region: 'eu' } },
      { name: 'none', arguments: { region: 'eu' } }
    ],
    ['prompts/get', { name: 'write', arguments: { b: 'c' } }, { name: 'none', arguments: { b: 'c' } }],
    ['resources/read', { uri: 'doc://secret' }, { uri: 'none://none' }],
    ['resources/read', { uri: 'secret://one' }, { uri: 'none://none' }],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'write' }, argument: { name: 'a', value: '' } },
      { ref: { type: 'ref/prompt', name: 'none' }, argument: { name: 'a', value: '' } }
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'secret://{id}' }, argument: { name: 'id', value: '' } },
      { ref: { type: 'ref/resource', uri: 'none://none' }, argument: { name: 'id', value: '' } }
    ]
  ]
  for (const [method, hidden, absent] of pairs) {
    const answer = await errorOf(method, hidden)
    t.match(answer, /"code":-32602/, method)
    t.equal(answer, await errorOf(method, absent), `${method} ${JSON.stringify(hidden)}`)
  }
  t.equal(
    (await resultOf(app, 'resources/read', 'docs:read', { uri: 'doc://secret' })).contents[0].text, 'secret'
  )
  t.equal(
    (await resultOf(app, 'resources/read', 'docs:write', { uri: 'secret://one' })).contents[0].text,
    'secret one'
  )
  t.equal((await resultOf(app, 'tools/call', 'docs:read', { name: 'read' })).content[0].text, 'read')
})

async function cacheScopes (app: FastifyInstance, authorization = ''): Promise<{ [method: string]: string }> {
  const found: { [method: string]: string } = {}
  for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
    found[method] = (await resultOf(app, method, authorization)).cacheScope
  }
  return found
}

t.test('lets lists be shared only where no scope can make them differ (109, 149, 186, 189)', async (t) => {
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

t.test('says the same of every page of a list (188)', async (t) => {
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

t.test('lets what is read be shared only where its author says so, or where it is a file (149, 186, ' +
  '189)', async (t) => {
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

async function snapshotOf (t: Test, files: Files): ReturnType<typeof loadSnapshot> {
  return await loadSnapshot(await writeCatalog(t, files))
}

t.test('makes one view for all callers whom no scope tells apart', async (t) => {
  const snapshot = await snapshotOf(t, CATALOG)
  const viewOf = (scopes: string) => snapshot.view({ scopes: scopesOf(scopes) })
  t.equal(viewOf('mail:read'), viewOf(''))
  t.equal(viewOf('docs:read a b'), viewOf('c docs:read'))
  t.equal(viewOf('docs:write docs:read'), viewOf('docs:read docs:write'))
  t.not(viewOf('docs:write'), viewOf('docs:read'))
})

t.test('answers more kinds of callers than it keeps views for, each rightly', async (t) => {
  const count = 80
  const snapshot = await snapshotOf(t, {
    'tools/all.ts': moduleOf(
      `export default Array.from({ length: ${count} }, (_, i) => defineTool({ name: 't' + i, scopes: ['s' + i], run: () => '' }))`
    )
  })
  const namesFor = (scopes: string): string[] => JSON.parse(
    String(snapshot.view({ scopes: scopesOf(scopes) }).tools.page(undefined))
  ).tools.map(({ name }: Message) => name)
  for (let round = 0; round < 2; round++) {
    const wrong = Array.from({ length: count }, (_, i) => i).filter(
      (i) => namesFor(`s${i}`).join() !== `t${i}` || namesFor(`s${i} s${(i + 1) % count}`).length !== 2
    )
    t.strictSame(wrong, [], `round ${round}`)
  }
  t.strictSame(namesFor(''), [])
})

t.test('what scopes hide is not to be had through a more general template', async (t) => {
  const app = await buildApp(t, {
    'resources/all.resource.ts': moduleOf(`export default [
      defineResource({ uri: 'doc://board', name: 'board', scopes: ['docs:read'], read: () => 'hidden' }),
      defineResourceTemplate({ uriTemplate: 'doc://private/{id}', name: 'private', scopes: ['docs:read'], read: () => 'hidden' }),
      defineResourceTemplate({ uriTemplate: 'doc://{+path}', name: 'all', read: () => 'general' })
    ]`)
  }, { authenticator })
  const read = async (uri: string, authorization: string) => (
    await send(app, { method: 'resources/read', params: { uri }, headers: { authorization } })
  ).response
  for (const uri of ['doc://board', 'doc://private/1']) {
    t.match((await read(uri, '')).error, { code: -32602, data: { uri } })
    t.equal((await read(uri, 'docs:read')).result.contents[0].text, 'hidden')
  }
  t.equal((await read('doc://other', '')).result.contents[0].text, 'general')
})
