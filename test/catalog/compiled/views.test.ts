import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { loadSnapshot } from '../../helpers/load-catalog.ts'
import { send, type Message } from '../../helpers/request.ts'
import { authenticator, CATALOG, moduleOf, resultOf, scopesOf } from './scoped-catalog.ts'

interface Lists { tools: string[], prompts: string[], resources: string[], templates: string[] }

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

t.test('a caller sees exactly the primitives that its scopes allow (107, 136, 148, 159, 165)', async (t) => {
  const app = await buildApp(t, CATALOG, { authenticator })
  const open = {
    tools: ['open'],
    prompts: ['open'],
    resources: ['open', 'shared', 'plain.txt'],
    templates: ['opens', 'files']
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
        templates: ['opens', 'secrets', 'files']
      }
    ],
    ['docs:write other docs:read', {
      tools: ['both', 'open', 'read'],
      prompts: ['open', 'write'],
      resources: [
        'open', 'secret', 'shared', 'plain.txt', 'one'
      ],
      templates: ['opens', 'secrets', 'files']
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

t.test('a hidden primitive is answered like an unknown one (122, 154, 167, 177, 179)', async (t) => {
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

async function snapshotOf (t: Test, files: Files): ReturnType<typeof loadSnapshot> {
  return await loadSnapshot(await writeCatalog(t, files))
}

t.test('callers who differ only in other scopes share a view', async (t) => {
  const snapshot = await snapshotOf(t, CATALOG)
  const viewOf = (scopes: string) => snapshot.view({ scopes: scopesOf(scopes) })
  t.equal(viewOf('mail:read'), viewOf(''))
  t.equal(viewOf('docs:read a b'), viewOf('c docs:read'))
  t.equal(viewOf('docs:write docs:read'), viewOf('docs:read docs:write'))
  t.not(viewOf('docs:write'), viewOf('docs:read'))
})

t.test('serves more kinds of callers than it keeps views', async (t) => {
  const count = 80
  const snapshot = await snapshotOf(t, {
    'tools/all.ts': moduleOf(
      `const toTool = (_, i) => defineTool({ name: 't' + i, scopes: ['s' + i], run: () => '' })
      export default Array.from({ length: ${count} }, toTool)`
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

t.test('keeps the views that are used', async (t) => {
  const snapshot = await snapshotOf(t, {
    'tools/all.ts': moduleOf(
      `export default Array.from({ length: 200 }, (_, i) =>
        defineTool({ name: 't' + i, scopes: ['s' + i], run: () => '' }))`
    )
  })
  const viewOf = (scopes: string) => snapshot.view({ scopes: scopesOf(scopes) })
  const [used, unused] = [viewOf('s0'), viewOf('s1')]
  for (let index = 2; index < 200; index++) {
    viewOf(`s${index}`)
    if (viewOf('s0') !== used) t.fail(`dropped after ${index} others`)
  }
  t.not(viewOf('s1'), unused)
})

t.test('a new set of scopes costs a call next to nothing, and a list little', async (t) => {
  const snapshot = await snapshotOf(t, {
    'tools/all.ts': moduleOf(
      `export default Array.from({ length: 5000 }, (_, i) => defineTool({
        name: 't' + i, description: 'A tool. '.repeat(50), scopes: i % 50 === 0 ? ['s' + i / 50] : [],
        run: () => ''
      }))`
    )
  })
  /** The CPU time of one use with scopes that have no view yet, in milliseconds: the best of five rounds. */
  const costOf = (use: (view: ReturnType<typeof snapshot.view>) => unknown) => Math.min(
    ...Array.from({ length: 5 }, () => {
      const before = process.cpuUsage()
      for (let index = 0; index < 100; index++) {
        use(snapshot.view({ scopes: scopesOf(`s${index} s${(index * 7 + 3) % 100}`) }))
      }
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 100_000
    })
  )
  t.ok(costOf((view) => view.tool('t1')) < 1)
  t.ok(costOf((view) => view.tools.page(undefined)) < 4)
})

t.test('a more general template does not show what scopes hide', async (t) => {
  const app = await buildApp(t, {
    'resources/all.resource.ts': moduleOf(`export default [
      defineResource({ uri: 'doc://board', name: 'board', scopes: ['docs:read'], read: () => 'hidden' }),
      defineResourceTemplate({
        uriTemplate: 'doc://private/{id}', name: 'private', scopes: ['docs:read'], read: () => 'hidden'
      }),
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
  // The general template reads these as the same values.
  for (const uri of ['doc://bo%61rd', 'doc://%62oard', 'doc://private%2F1', 'doc://privat%65/a%2Fb']) {
    t.match((await read(uri, '')).error, { code: -32602, data: { uri } }, uri)
  }
  t.equal((await read('doc://other', '')).result.contents[0].text, 'general')
  t.equal((await read('doc://oth%65r', '')).result.contents[0].text, 'general')
})
