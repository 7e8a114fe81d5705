// The apps of a catalog: their resources, what app.yaml says of them, and the tools that name them.

import { readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openCatalogFolder } from '../../../../src/catalog/folder/catalog-folder.ts'
import * as trivet from '../../../../src/index.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../../helpers/catalog-folder.ts'
import { loadSnapshot, problemsOf, readCatalog } from '../../../helpers/load-catalog.ts'
import { appFiles, page, problemsOfApp, readApp, SERVER } from './app-catalog.ts'

const YAML = `title: The basket
description: Shows a basket
icons:
  - src: https://shop.example/icon.png
annotations:
  audience: [user]
order: 3
cache:
  ttlMs: 5000
csp:
  connectDomains: [https://api.example.com, 'wss://live.example.com:8443']
  resourceDomains: ['https://*.example.com']
  frameDomains: [https://video.example]
  baseUriDomains: [https://cdn.example]
permissions: [camera, microphone, geolocation, clipboardWrite]
domain: shop.host.example
prefersBorder: false
`

const UI = {
  csp: {
    connectDomains: ['https://api.example.com', 'wss://live.example.com:8443'],
    resourceDomains: ['https://*.example.com'],
    frameDomains: ['https://video.example'],
    baseUriDomains: ['https://cdn.example']
  },
  permissions: { camera: {}, microphone: {}, geolocation: {}, clipboardWrite: {} },
  domain: 'shop.host.example',
  prefersBorder: false
}

async function entriesOf (files: Files, t: Test) {
  const { primitives: { listed } } = await loadSnapshot(await writeCatalog(t, files))
  return listed.map(({ json }) => JSON.parse(json))
}

t.test('an app is a resource, and app.yaml is in its list entry and in its contents', async (t) => {
  const files = appFiles({ 'index.html': page('hi'), 'app.yaml': YAML })
  const root = await writeCatalog(t, { ...SERVER, ...files })
  const { primitives: { listed, resources } } = await loadSnapshot(root)
  t.strictSame(JSON.parse(listed[0]?.json ?? ''), {
    uri: 'ui://shop/a',
    name: 'a',
    title: 'The basket',
    description: 'Shows a basket',
    icons: [{ src: 'https://shop.example/icon.png' }],
    mimeType: 'text/html;profile=mcp-app',
    annotations: { audience: ['user'] },
    _meta: { ui: UI }
  })
  t.strictSame(await readApp(root), {
    uri: 'ui://shop/a', mimeType: 'text/html;profile=mcp-app', text: page('hi'), _meta: { ui: UI }
  })
  t.strictSame(resources[0]?.cache, { ttlMs: 5000, cacheScope: 'public' })
  t.equal(resources[0]?.order, 3)
})

t.test('an app without app.yaml says nothing to hosts, and they use their strictest policy', async (t) => {
  for (const files of [{ 'index.html': page('') }, { 'index.html': page(''), 'app.yaml': '' }]) {
    t.strictSame(await entriesOf({ ...SERVER, ...appFiles(files) }, t), [
      { uri: 'ui://shop/a', name: 'a', mimeType: 'text/html;profile=mcp-app' }
    ])
  }
})

t.test('the URI has the name of the server, without what a URI must not have there', async (t) => {
  const uriFor = async (name: string) => {
    const files = {
      'server.yaml': `name: ${JSON.stringify(name)}`, ...appFiles({ 'index.html': page('') })
    }
    return (await entriesOf(files, t))[0].uri
  }
  t.equal(await uriFor('weather-server'), 'ui://weather-server/a')
  t.equal(await uriFor('My Shop: books/2'), 'ui://My-Shop-books-2/a')
  t.equal(await uriFor('本屋'), 'ui://trivet/a')
})

const YAML_PROBLEMS: ReadonlyArray<readonly [yaml: string, problems: readonly string[]]> = [
  ['title: A\npermission: []', [
    'app.yaml: line 2: permission: is not known here; did you mean permissions?'
  ]],
  ['title: A\n\npermissions:\n  - camera\n  - screen', [
    'app.yaml: line 5: permissions[1]: must be one of ' +
      '["camera","microphone","geolocation","clipboardWrite"], got "screen"'
  ]],
  [`csp:
  connectDomains:
    - https://a.example/path
    - "https://a.example; script-src *"
  frameDomains: ["*", "https://a.example:99999"]`, [
    ['line 3: csp.connectDomains[0]', 'https://a.example/path'],
    ['line 4: csp.connectDomains[1]', 'https://a.example; script-src *'],
    ['line 5: csp.frameDomains[0]', '*'],
    ['line 5: csp.frameDomains[1]', 'https://a.example:99999']
  ].map(([place, origin]) => `app.yaml: ${place}: must be an origin such as https://api.example.com or ` +
    `https://*.example.com, without a path, got "${origin}"`)],
  ['csp: { resourceDomains: ["blob:"], frameDomains: ["data:"] }', [
    'app.yaml: line 1: csp.resourceDomains[0]: must be an origin such as https://api.example.com or ' +
      'https://*.example.com, without a path, or data:, got "blob:"',
    'app.yaml: line 1: csp.frameDomains[0]: must be an origin such as https://api.example.com or ' +
      'https://*.example.com, without a path, got "data:"'
  ]],
  ['title: A\nprefersBorder: yes\nscopes: []\ndomain: ""', [
    'app.yaml: line 4: domain: must NOT have fewer than 1 characters, got ""',
    'app.yaml: line 2: prefersBorder: must be boolean, got "yes"'
  ]],
  ['title: A\nscopes: [x]\ncache:\n  cacheScope: public', [
    'app.yaml: line 4: cache.cacheScope: cannot be public, because scopes decide who may read this'
  ]],
  ['title: A\ntitle: B', ['app.yaml: line 2: Map keys must be unique']],
  ['- a', ['app.yaml: line 1: value: must be object, got ["a"]']],
  [`title: ${'a'.repeat(65_536)}`, ['app.yaml: : must have at most 65536 bytes, got 65543']]
]

for (const [yaml, problems] of YAML_PROBLEMS) {
  t.test(`refuses an app.yaml with its line: ${JSON.stringify(yaml.slice(0, 40))}`, async (t) => {
    t.strictSame(await problemsOfApp(t, { 'index.html': page(''), 'app.yaml': yaml }), problems)
  })
}

t.test('a tool names its app for hosts of today and for older ones, and who may call it', async (t) => {
  const root = await writeCatalog(t, {
    ...SERVER,
    ...appFiles({ 'index.html': page('') }),
    'tools/both.ts': toolModule('both', "ui: 'a', _meta: { 'example.com/x': 1 }"),
    'tools/hidden.ts': toolModule('hidden', "visibility: ['app']"),
    'tools/plain.ts': toolModule('plain')
  })
  const { primitives: { tools } } = await loadSnapshot(root)
  t.strictSame(tools.map(({ json }) => JSON.parse(json)._meta), [
    { 'example.com/x': 1, ui: { resourceUri: 'ui://shop/a' }, 'ui/resourceUri': 'ui://shop/a' },
    { ui: { visibility: ['app'] } },
    undefined
  ])
})

t.test('refuses tools whose app does not exist, or is closed to some who see the tool', async (t) => {
  const scoped = { 'index.html': page(''), 'app.yaml': 'scopes: [read]' }
  const problems = await problemsOf(t, {
    'server.yaml': 'name: shop\nscopes:\n  - name: all\n    includes: [read]\n',
    ...appFiles(scoped),
    'tools/b.ts': toolModule('b', "\n  ui: 'basket'"),
    'tools/c.ts': toolModule('c', "\n  scopes: ['other'], ui: 'a'"),
    'tools/d.ts': toolModule('d', "scopes: ['all'], ui: 'a'"),
    'tools/e.ts': toolModule('e', "ui: 'a', scopes: ['read'], _meta: { ui: {} }"),
    'tools/f.ts': toolModule('f', "visibility: ['user']"),
    'tools/g.ts': toolModule('g', "ui: 'A' + 1")
  })
  t.strictSame(problems.map(({ file, place, rule }) => [file, place, rule].join(': ')), [
    'tools/b.ts: line 3: the tool b shows the app "basket", which does not exist: ' +
      'make apps/basket/index.html',
    'tools/c.ts: line 3: the tool c shows the app a, which needs the scope read: ' +
      'add it to the scopes of the tool',
    'tools/g.ts: ui: the tool g shows the app "A1", which does not exist: make apps/A1/index.html',
    'tools/e.ts: _meta.ui: is made from ui and visibility: remove it here',
    'tools/f.ts: : visibility[0]: must be one of ["model","app"], got "user"'
  ])
})

t.test('a name that is nearly that of an app is recognised', async (t) => {
  const problems = await problemsOf(t, {
    'apps/basket/index.html': page(''), 'tools/b.ts': toolModule('b', "ui: 'baskets'")
  })
  t.match(problems, [{ rule: /did you mean basket\?$/ }])
})

t.test('the same files give the same bytes, stamps and version in every folder', async (t) => {
  const files = {
    ...SERVER,
    ...appFiles({
      'index.html': page('<script type="module" src="a.js"></script>', '<link rel=stylesheet href=a.css>'),
      'a.js': 'import "./b.js"',
      'b.js': 'console.log(import.meta.url)',
      'a.css': '@import "b.css";',
      'b.css': 'a { color: red }'
    })
  }
  const [one, other] = await Promise.all([writeCatalog(t, files), writeCatalog(t, files)])
  await utimes(join(other, 'apps/a/a.js'), 1, 1)
  t.strictSame(await readApp(other), await readApp(one))
  const [left, right] = [await loadSnapshot(one), await loadSnapshot(other)]
  t.strictSame([...left.stamps], [...right.stamps])
  t.equal(left.version, right.version)
  const { text } = await readApp(one)
  t.notMatch(text, one)
})

t.test('a change of any file of an app changes its stamp, and the version of the catalog', async (t) => {
  const root = await writeCatalog(t, {
    ...SERVER,
    ...appFiles({ 'index.html': page('<script type="module" src="a.js"></script>'), 'a.js': 'note(1)' }),
    'apps/b/index.html': page('')
  })
  const source = openCatalogFolder(root, { maxResourceBytes: 1_000_000, watchMode: 'off', trivet })
  const first = await source.load()
  for (const [path, text] of [['a.js', 'note(22)'], ['app.yaml', 'prefersBorder: true']] as const) {
    const before = await source.load()
    await writeInPlace(root, `apps/a/${path}`, text)
    const after = await source.load()
    t.not(after.stamps.get('ui://shop/a'), before.stamps.get('ui://shop/a'), path)
    t.equal(after.stamps.get('ui://shop/b'), first.stamps.get('ui://shop/b'))
    t.not(after.digest, before.digest)
  }
})

t.test('an app is made again only when one of its files has changed', async (t) => {
  const root = await writeCatalog(t, { ...SERVER, ...appFiles({ 'index.html': page('one') }) })
  const source = openCatalogFolder(root, { maxResourceBytes: 1_000_000, watchMode: 'off', trivet })
  const read = async () => {
    const [app] = (await source.load()).resources
    return JSON.stringify(await app?.definition.read({} as never))
  }
  const file = join(root, 'apps/a/index.html')
  // The time of a change says that a file may have changed, and its size.
  await utimes(file, 5, 5)
  t.match(await read(), 'one')
  await writeInPlace(root, 'apps/a/index.html', (await readFile(file, 'utf8')).replace('one', 'two'))
  await utimes(file, 5, 5)
  t.match(await read(), 'one')
  source.forget()
  t.match(await read(), 'two')
})

t.test('files outside the folders of apps are passed over with the reason', async (t) => {
  const root = await writeCatalog(t, { 'apps/x.html': 'x', 'apps/README.md': 'x' })
  const { contents } = await readCatalog(root)
  t.strictSame(contents.passedOver, [
    { file: 'apps/x.html', reason: 'belongs to no app: each app has a folder with an index.html' }
  ])
})
