import { execFileSync } from 'node:child_process'
import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createApp, type AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'
import { within } from '../../helpers/deadline.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send, type Message } from '../../helpers/request.ts'

async function read (app: FastifyInstance, uri: string): Promise<Message> {
  const { response } = await within(
    send(app, { method: 'resources/read', params: { uri } }),
    `the answer for ${uri}`
  )
  return response
}

async function listed (app: FastifyInstance): Promise<Message[]> {
  return (await send(app, { method: 'resources/list' })).response.result.resources
}

async function openFolder (t: Test, catalog: string, options: AppOptions = {}): Promise<FastifyInstance> {
  const app = await createApp({ catalog, ...QUIET, ...options })
  t.teardown(async () => await app.close())
  return app
}

function assertUnknown (t: Test, { error }: Message, uri: string, why = uri): void {
  t.match(error, { code: -32602, message: /^Resource not found: /, data: { uri } }, why)
}

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

t.test('lists each file with its type and size, alike on every replica (150)', async (t) => {
  const root = await writeCatalog(t, {
    'resources/docs/ä b?.md': '# Ü',
    'resources/logo.png': PNG,
    'resources/LICENSE': 'Free.',
    'resources/data.json': '{}'
  })
  const resources = await listed(await openFolder(t, root))
  t.strictSame(resources, [
    { uri: 'file:///LICENSE', name: 'LICENSE', mimeType: 'text/plain', size: 5 },
    { uri: 'file:///data.json', name: 'data.json', mimeType: 'application/json', size: 2 },
    { uri: 'file:///docs/%C3%A4%20b%3F.md', name: 'docs/ä b?.md', mimeType: 'text/markdown', size: 4 },
    { uri: 'file:///logo.png', name: 'logo.png', mimeType: 'image/png', size: 8 }
  ])
  const changed = new Date('2026-01-02T03:04:05.000Z')
  await utimes(join(root, 'resources/logo.png'), changed, changed)
  t.strictSame(await listed(await openFolder(t, root)), resources, 'whenever the file was written')
})

t.test('a file has the same type in the list and when it is read (152)', async (t) => {
  const halfCharacter = Buffer.from(`${'x'.repeat(4095)}é and more`)
  const types: ReadonlyArray<readonly [path: string, type: string, bytes?: Uint8Array]> = [
    ['main.rs', 'text/x-rust'], ['a.py', 'text/x-python'], ['a.go', 'text/x-go'], ['A.KT', 'text/x-kotlin'],
    ['a.rb', 'text/x-ruby'], ['a.cs', 'text/x-csharp'], ['a.swift', 'text/x-swift'],
    ['a.scala', 'text/x-scala'], ['a.ts', 'text/typescript'], ['a.d.mts', 'text/typescript'],
    ['a.tsx', 'text/tsx'], ['a.jsx', 'text/jsx'], ['a.cjs', 'text/javascript'], ['a.vue', 'text/x-vue'],
    ['a.graphql', 'text/x-graphql'], ['a.proto', 'text/x-protobuf'], ['a.hs', 'text/x-haskell'],
    ['a.ex', 'text/x-elixir'], ['a.json', 'application/json'], ['a.html', 'text/html'],
    ['a.md', 'text/markdown'], ['Dockerfile', 'text/x-dockerfile'], ['docs/Makefile', 'text/x-makefile'],
    ['html', 'text/plain'], ['rs', 'text/plain'], ['a.unknown', 'text/plain'],
    ['long', 'text/plain', halfCharacter],
    ['blob', 'application/octet-stream', PNG], ['b.unknown', 'application/octet-stream', PNG]
  ]
  const app = await buildApp(
    t, Object.fromEntries(types.map(([path, , bytes = '']) => [`resources/${path}`, bytes]))
  )
  const entries = new Map((await listed(app)).map(({ name, mimeType }) => [name, mimeType]))
  for (const [path, type] of types) {
    t.equal(entries.get(path), type, path)
    t.equal((await read(app, `file:///${path}`)).result.contents[0].mimeType, type, `${path}, read`)
  }
})

t.test('a template of the author comes before the template of the files (153)', async (t) => {
  const app = await buildApp(t, {
    'resources/a.txt': 'a file',
    'resources/r.resource.ts': "import { defineResourceTemplate } from 'trivet'\nexport default " +
      "defineResourceTemplate({ uriTemplate: 'file:///{path}', name: 'own', read: ({ path }) => 'own ' + path })"
  })
  t.match((await read(app, 'file:///b.txt')).result.contents, [{ text: 'own b.txt' }])
  t.match((await read(app, 'file:///a.txt')).result.contents, [{ text: 'a file' }], 'and after the files')
})

t.test('a template of the author hides no directory (156)', async (t) => {
  for (const uriTemplate of ['file:///{path}', 'file:///{+path}.md', 'file:///{+all}']) {
    const app = await buildApp(t, {
      'resources/docs/a.txt': 'a file',
      'resources/docs/v1.md/b.txt': 'b',
      'resources/r.resource.ts': "import { defineResourceTemplate } from 'trivet'\nexport default " +
        `defineResourceTemplate({ uriTemplate: '${uriTemplate}', name: 'own', read: () => 'own' })`
    })
    for (const uri of ['file:///docs', 'file:///docs/']) {
      t.match((await read(app, uri)).result.contents, [
        { uri: 'file:///docs/v1.md/', mimeType: 'inode/directory' }, { text: 'a file' }
      ], `${uri} ${uriTemplate}`)
    }
    t.match((await read(app, 'file:///docs/v1.md')).result.contents, [{ text: 'b' }], uriTemplate)
    t.match((await read(app, 'file:///')).result.contents, [{ uri: 'file:///docs/' }], uriTemplate)
    t.strictSame((await listed(app)).map(({ uri }) => uri), [
      'file:///docs/a.txt', 'file:///docs/v1.md/b.txt'
    ], 'and directories are in no list')
  }
})

t.test('reads a file as text or as base64, by its content (151, 152)', async (t) => {
  const app = await buildApp(t, {
    'resources/docs/ä b?.md': '# Ü\r\n',
    'resources/logo.png': PNG,
    'resources/LICENSE': 'Free.',
    'resources/blob': PNG,
    'resources/broken.md': PNG,
    'resources/nul.txt': 'a\0b',
    'resources/empty.txt': ''
  })
  const cases: ReadonlyArray<readonly [string, object]> = [
    ['file:///docs/%C3%A4%20b%3F.md', { mimeType: 'text/markdown', text: '# Ü\r\n' }],
    ['file:///logo.png', { mimeType: 'image/png', blob: 'iVBORw0KGgo=' }],
    ['file:///LICENSE', { mimeType: 'text/plain', text: 'Free.' }],
    ['file:///blob', { mimeType: 'application/octet-stream', blob: 'iVBORw0KGgo=' }],
    ['file:///broken.md', { mimeType: 'text/markdown', blob: 'iVBORw0KGgo=' }],
    ['file:///nul.txt', { mimeType: 'text/plain', blob: 'YQBi' }],
    ['file:///empty.txt', { mimeType: 'text/plain', text: '' }]
  ]
  for (const [uri, expected] of cases) {
    const { result } = await read(app, uri)
    t.strictSame(result.contents, [{ uri, ...expected }], uri)
    t.match(result, { ttlMs: 0, cacheScope: 'public' })
  }
})

t.test('reads a file as it is now', async (t) => {
  const root = await writeCatalog(t, { 'resources/a.txt': 'before', 'resources/b.txt': 'b' })
  const app = await openFolder(t, root)
  await writeInPlace(root, 'resources/a.txt', 'after, and longer')
  t.equal((await read(app, 'file:///a.txt')).result.contents[0].text, 'after, and longer')
  await rm(join(root, 'resources/b.txt'))
  assertUnknown(
    t, await read(app, 'file:///b.txt'), 'file:///b.txt', 'and one that is gone is no resource (154, 155)'
  )
})

t.test('reads a directory as what lies directly in it (156)', async (t) => {
  const app = await buildApp(t, {
    'resources/docs/b.md': 'b',
    'resources/docs/a b.md': 'a',
    'resources/docs/deep/c.md': 'c',
    'resources/docs-2/d.md': 'd'
  })
  for (const uri of ['file:///docs', 'file:///docs/']) {
    t.strictSame((await read(app, uri)).result.contents, [
      { uri: 'file:///docs/deep/', mimeType: 'inode/directory', text: '' },
      { uri: 'file:///docs/a%20b.md', mimeType: 'text/markdown', text: 'a' },
      { uri: 'file:///docs/b.md', mimeType: 'text/markdown', text: 'b' }
    ], uri)
  }
  t.strictSame((await read(app, 'file:///')).result.contents, [
    { uri: 'file:///docs-2/', mimeType: 'inode/directory', text: '' },
    { uri: 'file:///docs/', mimeType: 'inode/directory', text: '' }
  ], 'also the whole folder')
  assertUnknown(t, await read(app, 'file:///doc'), 'file:///doc')
})

t.test('completes directories, and does not list them', async (t) => {
  const app = await buildApp(t, { 'resources/docs/deep/a.md': 'a' })
  t.strictSame((await listed(app)).map(({ uri }) => uri), ['file:///docs/deep/a.md'])
  const argument = { name: 'path', value: '' }
  const params = { ref: { type: 'ref/resource', uri: 'file:///{+path}' }, argument }
  const { response } = await send(app, { method: 'completion/complete', params })
  t.strictSame(response.result.completion.values, ['docs/', 'docs/deep/', 'docs/deep/a.md'])
})

t.test('the error for a large resource has its size and the limit', async (t) => {
  const app = await buildApp(
    t,
    {
      'resources/large.txt': 'x'.repeat(1025),
      'resources/many/a.txt': 'x'.repeat(600),
      'resources/many/b.txt': 'x'.repeat(600),
      'resources/ok.txt': 'x'.repeat(1024)
    },
    { maxResourceBytes: 1024 }
  )
  t.strictSame((await read(app, 'file:///large.txt')).error, {
    code: -32602,
    message: 'Resource too large: 1025 bytes, the limit is 1024',
    data: {
      uri: 'file:///large.txt', size: 1025, limit: 1024
    }
  })
  t.strictSame((await read(app, 'file:///many')).error, {
    code: -32602,
    message: 'Resource too large: 1200 bytes, the limit is 1024',
    data: {
      uri: 'file:///many', size: 1200, limit: 1024
    }
  })
  t.equal((await read(app, 'file:///ok.txt')).result.contents[0].text.length, 1024)
})

t.test('refuses a directory of too many entries', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`resources/many/${index}.txt`, 'x'] as const)
  )
  const app = await buildApp(t, { ...files, 'resources/more/a.txt': 'a' })
  t.equal((await read(app, 'file:///many')).result.contents.length, 100)
  const fuller = await buildApp(t, { ...files, 'resources/many/inner/a.txt': 'a' })
  t.strictSame((await read(fuller, 'file:///many')).error, {
    code: -32602,
    message: 'Resource too large: 101 entries, the limit is 100',
    data: { uri: 'file:///many', size: 101, limit: 100 }
  })
  t.equal((await read(fuller, 'file:///many/inner')).result.contents[0].text, 'a')
})

t.test('measures files when they are read', async (t) => {
  const root = await writeCatalog(t, { 'resources/many/a.txt': 'a', 'resources/many/b.txt': 'b' })
  const app = await openFolder(t, root, { maxResourceBytes: 1024 })
  await writeInPlace(root, 'resources/many/a.txt', 'a'.repeat(600))
  await writeInPlace(root, 'resources/many/b.txt', 'b'.repeat(600))
  t.match((await read(app, 'file:///many')).error, { code: -32602, message: /^Resource too large/ })
})

t.test('offers a template over the files, with completion of their paths (175)', async (t) => {
  const app = await buildApp(t, { 'resources/docs/guide.md': 'g', 'resources/docs/rules.md': 'r' })
  const { resourceTemplates } = (await send(app, { method: 'resources/templates/list' })).response.result
  t.match(resourceTemplates, [{ uriTemplate: 'file:///{+path}', name: 'files' }])
  const { result } = (
    await send(app, {
      method: 'completion/complete',
      params: {
        ref: { type: 'ref/resource', uri: 'file:///{+path}' }, argument: { name: 'path', value: 'gui' }
      }
    })
  ).response
  t.strictSame(result.completion, { values: ['docs/guide.md'], total: 1, hasMore: false })
})

t.test('offers no template without files', async (t) => {
  const app = await buildApp(t, { 'tools/a.ts': toolModule('a') })
  t.strictSame(
    (await send(app, { method: 'resources/templates/list' })).response.result.resourceTemplates, []
  )
})

t.test('no spelling of a URI reaches a file outside the folder (154, 155, 158)', async (t) => {
  const outside = await writeCatalog(t, { 'secret.txt': 'secret', 'inner/secret.txt': 'secret' })
  const root = await writeCatalog(t, {
    'resources/docs/a.md': 'a',
    'resources/.env': 'secret',
    'resources/.git/config': 'secret',
    'server.yaml': 'name: s',
    'resources-2/secret.txt': 'secret'
  })
  await symlink(`${outside}/secret.txt`, join(root, 'resources/link.txt'))
  await symlink(outside, join(root, 'resources/linked'))
  await symlink('../server.yaml', join(root, 'resources/up.yaml'))
  await symlink('../resources-2', join(root, 'resources/sibling'))
  const app = await openFolder(t, root)
  t.strictSame((await listed(app)).map(({ uri }) => uri), ['file:///docs/a.md'])
  const spellings = [
    '../server.yaml', 'docs/../../server.yaml', '%2e%2e/server.yaml', '%2E%2E%2Fserver.yaml',
    '..%2fserver.yaml', 'docs%2f..%2f..%2fserver.yaml', '%252e%252e/server.yaml',
    '%252e%252e%252fserver.yaml',
    '..\\server.yaml', '..%5cserver.yaml', '%5c..%5cserver.yaml', '/etc/passwd', '%2fetc%2fpasswd',
    `${root}/server.yaml`, '//etc/passwd', 'etc/passwd',
    'docs/a.md%00', 'docs/a.md%00.txt', '%00', '../server.yaml%00.md', 'docs/a.md\0', '%', '%zz',
    '%c0%ae%c0%ae/server.yaml', '\u2025/server.yaml',
    '.env', '.git/config', 'docs/../.env', './docs/a.md', 'docs//a.md', 'docs/./a.md', 'docs/a.md/',
    'docs/a.md/..', 'docs/..', '.', '..', './', '/',
    'link.txt', 'linked', 'linked/secret.txt', 'linked/inner/secret.txt', 'up.yaml', 'sibling/secret.txt',
    '../resources-2/secret.txt', 'DOCS/a.md', 'docs/a.md?x', 'docs/a.md#x'
  ]
  for (const spelling of spellings) {
    assertUnknown(t, await read(app, `file:///${spelling}`), `file:///${spelling}`)
  }
  for (const uri of [
    'file://localhost/docs/a.md', 'file:/docs/a.md', 'FILE:///docs/a.md', 'file:////', 'docs/a.md', '',
    '/etc/passwd'
  ]) {
    assertUnknown(t, await read(app, uri), uri)
  }
  t.equal(
    (await read(app, 'file:///docs%2Fa.md')).result.contents[0].text, 'a',
    'an encoded slash is a slash, within the folder'
  )
})

t.test('does not read a file that was replaced by a link out of the folder (158)', async (t) => {
  const outside = await writeCatalog(t, { 'a.txt': 'secret', 'b.txt': 'secret' })
  const root = await writeCatalog(t, {
    'resources/a.txt': 'a',
    'resources/docs/b.txt': 'b',
    'resources/c.txt': 'c',
    'resources/d.txt': 'd',
    'resources/e.txt': 'e'
  })
  const app = await openFolder(t, root)
  const at = (path: string) => join(root, 'resources', path)
  await rm(at('a.txt'))
  await symlink(`${outside}/a.txt`, at('a.txt'))
  await rm(at('docs'), { recursive: true })
  await symlink(outside, at('docs'))
  await rm(at('c.txt'))
  await mkdir(at('c.txt'))
  await rm(at('d.txt'))
  await symlink('d.txt', at('d.txt'))
  for (const uri of [
    'file:///a.txt', 'file:///docs/b.txt', 'file:///docs', 'file:///c.txt', 'file:///d.txt'
  ]) {
    assertUnknown(t, await read(app, uri), uri)
  }
  await rm(at('a.txt'))
  await symlink('e.txt', at('a.txt'))
  t.equal(
    (await read(app, 'file:///a.txt')).result.contents[0].text, 'e', 'a link within the folder is followed'
  )
})

t.test('a pipe blocks neither loading nor reading', async (t) => {
  const root = await writeCatalog(t, { 'resources/a.txt': 'a', 'resources/b.txt': 'b' })
  execFileSync('mkfifo', [join(root, 'resources/pipe.txt'), join(root, 'resources/later')])
  const app = await within(openFolder(t, root), 'the load')
  t.strictSame((await listed(app)).map(({ uri }) => uri), ['file:///a.txt', 'file:///b.txt'])
  await rename(join(root, 'resources/later'), join(root, 'resources/b.txt'))
  assertUnknown(t, await read(app, 'file:///b.txt'), 'file:///b.txt')
})

t.test('keeps serving after a link swap moves the folder, as in a mounted ConfigMap', async (t) => {
  const root = await writeCatalog(t, { '..1/resources/a.txt': 'one', '..2/resources/a.txt': 'two' })
  await symlink('..1', join(root, '..data'))
  await symlink('..data/resources', join(root, 'resources'))
  const app = await openFolder(t, root)
  t.equal((await read(app, 'file:///a.txt')).result.contents[0].text, 'one')
  await symlink('..2', join(root, '..data_tmp'))
  await rename(join(root, '..data_tmp'), join(root, '..data'))
  await rm(join(root, '..1'), { recursive: true })
  t.equal((await read(app, 'file:///a.txt')).result.contents[0].text, 'two')
  await writeFile(join(root, 'secret.txt'), 'secret')
  await rm(join(root, '..2/resources/a.txt'))
  await symlink('../../secret.txt', join(root, '..2/resources/a.txt'))
  assertUnknown(t, await read(app, 'file:///a.txt'), 'file:///a.txt', 'and still nothing outside it')
})

t.test('serves every file under resources/ that is no resource module', async (t) => {
  const app = await buildApp(t, {
    'resources/notes.ts': 'export {}',
    'resources/x.resource.ts': "import { defineResource } from 'trivet'\nexport default defineResource({ " +
      "uri: 'x://x', name: 'x', read: () => 'x' })"
  })
  t.strictSame((await listed(app)).map(({ uri }) => uri), ['file:///notes.ts', 'x://x'])
})
