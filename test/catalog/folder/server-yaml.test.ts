import { basename } from 'node:path'
import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { problemsOf, loadSnapshot } from '../../helpers/load-catalog.ts'
import { send } from '../../helpers/request.ts'
import { moduleOf } from './definition-modules.ts'

t.test('reads every setting from server.yaml', async (t) => {
  const app = await buildApp(t, {
    'server.yaml': `name: shop
title: The shop
version: 1.2.3
description: Sells books.
websiteUrl: https://shop.example
icons:
  - src: https://shop.example/icon.png
    mimeType: image/png
    sizes: [48x48, any]
    theme: dark
instructions: |
  Search before you order.
cache:
  listTtlMs: 1234
  readTtlMs: 5678
pageSize: 2
`,
    'tools/all.ts': moduleOf(
      "export const all = ['a', 'b', 'c'].map((name) => defineTool({ name, run: () => name }))"
    ),
    'resources/a.txt': 'a'
  })
  const { result: discovered } = (await send(app, { method: 'server/discover' })).response
  t.match(discovered, { instructions: 'Search before you order.\n', ttlMs: 1234 })
  const { result: list } = (await send(app, { method: 'tools/list' })).response
  t.match(list, {
    ttlMs: 1234,
    tools: [{ name: 'a' }, { name: 'b' }],
    nextCursor: String,
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'shop', version: '1.2.3' } }
  })
  const { result: read } = (
    await send(app, { method: 'resources/read', params: { uri: 'file:///a.txt' } })
  ).response
  t.equal(read.ttlMs, 5678)
  const root = await writeCatalog(t, {
    'server.yaml': 'title: T\nversion: "2"\ndescription: D\nwebsiteUrl: https://a.example\nicons: [{ src: ' +
      '"data:image/png;base64,AAAA" }]'
  })
  t.match((await loadSnapshot(root)).server.info, {
    name: basename(root),
    title: 'T',
    version: '2',
    description: 'D',
    websiteUrl: 'https://a.example',
    icons: [{ src: 'data:image/png;base64,AAAA' }]
  })
})

t.test('reports the problems of server.yaml', async (t) => {
  const cases: ReadonlyArray<readonly [string, string, RegExp]> = [
    ['name: shop\nnmae: shop', '', /^nmae: is not known here/],
    ['name: shop\n\nicons: [', 'line 3', /^Flow sequence .* end with a \]$/],
    ['name: ""\nversion: true', '', /name: .*version: /],
    ['cache: { ttlMs: 5 }', '', /^cache\.ttlMs: is not known here/],
    ['cache: { listTtlMs: -1 }', '', /^cache\.listTtlMs: must be >= 0/],
    ['schemas: flat', '', /^schemas: must be one of \["auto","as-written"\], got "flat"/],
    ['pageSize: 0', '', /^pageSize: must be >= 1/],
    ['websiteUrl: the shop', '', /^websiteUrl: .*uri/],
    ['icons: [{ src: "javascript:alert(1)" }]', '', /^icons\[0\]\.src: /],
    ['clients: [{ name: "" , plain: true }]', '', /^clients\[0\]\.name: /],
    ['clients: [{ name: a, plain: yes please }]', '', /^clients\[0\]\.plain: must be boolean/],
    ['clients: [{ name: a }]', '', /^clients\[0\]\.plain: /],
    ['clients: [{ name: a, plain: true, tasks: false }]', '', /^clients\[0\]\.tasks: is not known here/],
    ['clients: { a: plain }', '', /^clients: must be array/],
    ['- a list', '', /must be object/]
  ]
  for (const [yaml, place, rule] of cases) {
    t.match(await problemsOf(t, { 'server.yaml': yaml }), [{ file: 'server.yaml', place, rule }], yaml)
  }
  t.strictSame(await problemsOf(t, { 'server.yaml': '# nothing but a comment' }), [])
})
