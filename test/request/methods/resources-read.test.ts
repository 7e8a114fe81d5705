import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'

/** The text of a module of resources `test:<name>`. The values are the source text of further members. */
function resourcesModule (resources: { readonly [name: string]: string }): string {
  const definitions = Object.entries(resources).map(
    ([
      name, members
    ]) => `export const ${name} = defineResource({ uri: 'test:${name}', name: '${name}', ${members} })`
  )
  return ["import { defineResource, defineResourceTemplate } from 'trivet'", ...definitions].join('\n')
}

const read = (uri: string) => ({ method: 'resources/read', params: { uri } })

t.test('reads strings, bytes and contents (151, 152)', async (t) => {
  const one = { uri: 'test:other', mimeType: 'text/markdown', text: '# a', _meta: { 'example.com/a': 1 } }
  const two = { uri: 'test:bytes', blob: 'AAH/' }
  const app = await buildApp(t, {
    'resources/r.resource.ts': resourcesModule({
      text: "read: () => 'hi'",
      later: "mimeType: 'text/html', read: async () => '<p>'",
      empty: "read: () => ''",
      bytes: 'read: () => new Uint8Array([0, 1, 255])',
      part: "mimeType: 'image/png', read: () => Buffer.from('xaby').subarray(1, 3)",
      single: `read: () => (${JSON.stringify(one)})`,
      list: `read: () => (${JSON.stringify([one, two])})`,
      byte_list: 'read: () => [{ uri: \'test:b\', mimeType: \'image/png\', blob: Buffer.from(\'ab\') }]',
      whole: `read: async () => (${JSON.stringify({ contents: [two] })})`,
      asked: "read: (ctx) => ctx.uri + ' ' + ctx.revision"
    })
  })
  for (const [name, contents] of Object.entries({
    text: [{ uri: 'test:text', mimeType: 'text/plain', text: 'hi' }],
    later: [{ uri: 'test:later', mimeType: 'text/html', text: '<p>' }],
    empty: [{ uri: 'test:empty', mimeType: 'text/plain', text: '' }],
    bytes: [{ uri: 'test:bytes', mimeType: 'application/octet-stream', blob: 'AAH/' }],
    part: [{ uri: 'test:part', mimeType: 'image/png', blob: 'YWI=' }],
    single: [one],
    list: [one, two],
    byte_list: [{ uri: 'test:b', mimeType: 'image/png', blob: 'YWI=' }],
    whole: [two],
    asked: [{ uri: 'test:asked', mimeType: 'text/plain', text: 'test:asked 2026-07-28' }]
  })) {
    const { status, response: { result: { _meta, ...result } } } = await send(app, read(`test:${name}`))
    t.equal(status, 200)
    t.strictSame(result, { resultType: 'complete', contents, ttlMs: 0, cacheScope: 'private' }, name)
  }
})

t.test('reads a template with the variables of the URI (153)', async (t) => {
  const app = await buildApp(t, {
    'resources/b.resource.ts': `import { defineResource, defineResourceTemplate } from 'trivet'
      export const book = defineResourceTemplate({
        uriTemplate: 'book://{id}', name: 'book', mimeType: 'text/plain',
        read: ({ id }) => id === 'none' ? undefined : 'book ' + id
      })
      export const fixed = defineResource({ uri: 'book://fixed', name: 'fixed', read: () => 'the fixed one' })
      export const search = defineResourceTemplate({
        uriTemplate: 'search://books{?q,page}', name: 'search', read: (variables) => JSON.stringify(variables)
      })`
  })
  const contentsOf = async (uri: string) => (await send(app, read(uri))).response.result?.contents
  t.strictSame(await contentsOf('book://1984'), [
    { uri: 'book://1984', mimeType: 'text/plain', text: 'book 1984' }
  ])
  t.match(await contentsOf('book://war%20%26%20peace'), [
    { uri: 'book://war%20%26%20peace', text: 'book war & peace' }
  ])
  t.match(
    await contentsOf('book://fixed'), [{ text: 'the fixed one' }],
    'a resource with this URI comes before a template'
  )
  t.match(await contentsOf('search://books?page=2&q=a%2Fb'), [{ text: '{"q":"a/b","page":"2"}' }])
})

t.test('an unknown resource is invalid params, not empty contents (154, 155, 156)', async (t) => {
  const app = await buildApp(t, {
    'resources/r.resource.ts': `${resourcesModule({
      gone: 'read: () => undefined', gone_later: 'read: async () => undefined'
    })}
      const read = () => undefined
      export const book = defineResourceTemplate({ uriTemplate: 'book://{id}', name: 'book', read })`,
    'resources/docs/a.md': '# a'
  })
  for (const uri of [
    'test:none', 'test:gone', 'test:gone_later', 'book://x', 'book://', '', 'not a uri', 'file:///docs/b.md',
    'file:///etc/passwd', 'file:///docs/../../etc/passwd', 'file:///docs/%2e%2e/%2e%2e/etc/passwd',
    'file:///docs/a.md%00', 'file:///%E0%A4%A', `book://${'x'.repeat(10_000)}`
  ]) {
    const { status, response } = await send(app, read(uri))
    t.equal(status, 200)
    t.strictSame(
      { ...response.error, message: response.error.message.slice(0, 19) },
      { code: -32602, message: 'Resource not found:', data: { uri } }, uri.slice(0, 60)
    )
  }
  for (const params of [{}, { uri: 1 }]) {
    t.match((await send(app, { method: 'resources/read', params })).response.error, {
      code: -32602, message: /^Invalid params: uri: /
    })
  }
})

t.test('malformed contents and other errors are internal errors, and the log says why (157)', async (t) => {
  const failing = {
    fails: "read: () => { throw new Error('hunter2') }",
    fails_later: "read: async () => { throw new Error('hunter2') }",
    no_contents: 'read: () => []',
    no_contents_in: 'read: () => ({ contents: [] })',
    no_uri: "read: () => ({ text: 'hunter2' })",
    no_text: "read: () => ({ uri: 'test:a' })",
    no_base64: "read: () => ({ uri: 'test:a', blob: 'hunter2!' })",
    no_padding: "read: () => ({ uri: 'test:a', blob: 'abcde' })",
    no_bytes: "read: () => ({ uri: 'test:a', blob: [1] })",
    no_type: "read: () => ({ uri: 'test:a', mimeType: 'banana', text: '' })",
    wrong_uri: "read: () => ({ uri: 'test:100%', text: '' })",
    number: 'read: () => 1',
    nil: 'read: () => null'
  }
  const log = createReadableLog()
  const app = await buildApp(t, { 'resources/r.resource.ts': resourcesModule(failing) }, {
    logger: log.logger
  })
  for (const name of Object.keys(failing)) {
    const { status, response } = await send(app, read(`test:${name}`))
    t.equal(status, 200)
    t.match(response.error, { code: -32603, message: 'Internal error', data: { requestId: String } }, name)
    t.ok(
      log.lines.some(({ name: subject, err }) => subject === `test:${name}` && err !== undefined),
      `the log says why ${name} failed`
    )
  }
})

t.test('contents have cache hints (149, 186, 189)', async (t) => {
  const app = await buildApp(t, {
    'server.yaml': 'cache:\n  readTtlMs: 5000\n',
    'resources/r.resource.ts': `${resourcesModule({
      plain: "read: () => ''",
      kept: "cache: { ttlMs: 70 }, read: () => ''",
      shared: "cache: { cacheScope: 'public' }, read: () => ''"
    })}
      const cache = { ttlMs: 9, cacheScope: 'public' }
      export const book = defineResourceTemplate({
        uriTemplate: 'book://{id}', name: 'book', cache, read: () => ''
      })`,
    'resources/a.md': '# a'
  })
  for (const [uri, hints] of Object.entries({
    'test:plain': { ttlMs: 5000, cacheScope: 'private' },
    'test:kept': { ttlMs: 70, cacheScope: 'private' },
    'test:shared': { ttlMs: 5000, cacheScope: 'public' },
    'book://1': { ttlMs: 9, cacheScope: 'public' },
    'file:///a.md': { ttlMs: 5000, cacheScope: 'public' }
  })) t.match((await send(app, read(uri))).response.result, hints, uri)
})
