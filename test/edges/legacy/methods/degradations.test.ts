// One catalog in the form of each revision. Each message is checked against the revision's schema, without
// additional members, when it is read.

import t, { type Test } from 'tap'
import { buildApp, listen } from '../../../helpers/app.ts'
import type { Message } from '../../../helpers/request.ts'
import { LEGACY_REVISIONS, openSession, type SessionClient } from '../../../helpers/session.ts'
import { FILES } from './degradations-catalog.ts'

const has = {
  annotations: '2025-03-26',
  audio: '2025-03-26',
  completions: '2025-03-26',
  titles: '2025-06-18',
  links: '2025-06-18',
  meta: '2025-06-18',
  structured: '2025-06-18',
  icons: '2025-11-25'
}

/** Members that only 2026-07-28 and later revisions have. */
const MODERN = [
  'resultType', 'ttlMs', 'cacheScope', 'inputRequests', 'requestState', 'extensions', 'supportedVersions'
]

function modernMembers (value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [
    ...MODERN.includes(name) || name.startsWith('io.modelcontextprotocol/') ? [`${path}/${name}`] : [],
    ...modernMembers(member, `${path}/${name}`)
  ])
}

async function open (t: Test, revision: string): Promise<SessionClient> {
  return await openSession(t, await listen(await buildApp(t, FILES)), { revision })
}

const byName = (list: Message[], name: string): Message => list.find((one) => one.name === name)

for (const revision of LEGACY_REVISIONS) {
  const since = (feature: keyof typeof has) => revision >= has[feature]

  t.test(`at ${revision}`, async (t) => {
    const session = await open(t, revision)

    t.test('describes the server with the fields of the revision (314, 368, 381, 382)', async (t) => {
      t.strictSame(Object.keys(session.initialized).sort(), [
        'capabilities', 'instructions', 'protocolVersion', 'serverInfo'
      ])
      t.strictSame(session.initialized.serverInfo, {
        name: 'rich',
        version: '1.2.3',
        ...(since('titles') && { title: 'Rich' }),
        ...(since('icons') && {
          icons: [{ src: 'https://rich.example/icon.png' }],
          description: 'Has it all.',
          websiteUrl: 'https://rich.example'
        })
      })
      t.equal(session.initialized.instructions, 'Read me.')
      t.equal('completions' in session.initialized.capabilities, since('completions'))
    })

    t.test('no result has a member of the modern era (342, 343)', async (t) => {
      const requests: ReadonlyArray<readonly [method: string, params: object]> = [
        ['tools/list', {}], ['prompts/list', {}], ['resources/list', {}], ['resources/templates/list', {}],
        ...['contents', 'failing', 'object', 'list', 'number', 'either', 'bare', 'said', 'schema'].map(
          (name) => ['tools/call', { name }] as const
        ),
        ['tools/call', { name: 'nothing' }], ['tools/call', { name: 'schema', arguments: { n: 'x' } }],
        ['prompts/get', { name: 'ask', arguments: { who: 'ann' } }], ['prompts/get', { name: 'ask' }],
        ...['test:one', 'test:many/7', 'file:///notes.txt', 'test:none'].map(
          (uri) => ['resources/read', { uri }] as const
        ),
        [
          'completion/complete',
          { ref: { type: 'ref/prompt', name: 'ask' }, argument: { name: 'who', value: 'a' } }
        ],
        [
          'completion/complete',
          { ref: { type: 'ref/resource', uri: 'test:many/{id}' }, argument: { name: 'id', value: '' } }
        ],
        ['ping', {}], ['logging/setLevel', { level: 'error' }], [
          'resources/subscribe', { uri: 'test:one' }
        ], ['resources/unsubscribe', { uri: 'test:one' }],
        ['tools/list', { cursor: 'wrong' }], ['nothing', {}]
      ]
      t.strictSame(modernMembers(session.initialized), [])
      for (const [method, params] of requests) {
        const { status, headers, messages, response } = await session.request(method, params)
        t.equal(status, 200, `${method} ${JSON.stringify(params)}`)
        t.equal(messages.length, 1)
        t.notOk('mcp-session-id' in headers)
        t.strictSame(modernMembers(response), [])
      }
    })

    t.test('lists its definitions (368, 377, 381)', async (t) => {
      const { tools } = (await session.request('tools/list')).result
      const common = {
        ...(since('titles') && { title: 'Title' }),
        ...(since('icons') && { icons: [{ src: 'https://a.example/b.png' }] }),
        ...(since('meta') && { _meta: { 'example.com/a': 1 } })
      }
      for (const tool of tools) {
        const { title, icons, _meta } = tool
        t.match(tool, common)
        t.strictSame([title !== undefined, icons !== undefined, _meta !== undefined], [
          since('titles'), since('icons'), since('meta')
        ])
      }
      t.equal('annotations' in byName(tools, 'object'), since('annotations'))
      t.strictSame(
        tools.filter((tool: Message) => 'outputSchema' in tool).map(({ name }: Message) => name),
        since('structured') ? ['object'] : [], 'only objects (359)'
      )
      const [{ title, description, required }] = (
        await session.request('prompts/list')
      ).result.prompts[0].arguments
      t.strictSame([title, description, required], [since('titles') ? 'Who' : undefined, 'Whom.', true])
      const { resources } = (await session.request('resources/list')).result
      for (const name of ['one', 'a']) {
        t.strictSame(byName(resources, name).annotations, {
          audience: ['user'], ...(since('meta') && { lastModified: '2025-01-01T00:00:00Z' })
        })
      }
      t.equal(byName(resources, 'notes.txt').size, 5)
      t.notOk('annotations' in byName(resources, 'notes.txt'), 'a file has none')
      const [template] = (await session.request('resources/templates/list')).result.resourceTemplates.filter(
        ({ name }: Message) => name === 'many'
      )
      t.equal('_meta' in template, since('meta'))
    })

    t.test('does not change the schema of arguments', async (t) => {
      const { inputSchema } = byName((await session.request('tools/list')).result.tools, 'schema')
      t.equal(inputSchema.additionalProperties, false)
      t.strictSame(inputSchema.allOf, [{ properties: { n: { type: 'integer' } } }])
      t.strictSame(inputSchema.properties.part, { type: 'object', properties: { any: true } })
    })

    t.test('replaces content that the revision does not have with text (371, 377, 381)', async (t) => {
      for (const [name, offset] of [['contents', 0], ['failing', 1]] as const) {
        const { content } = (await session.call(name)).result
        const [text, image, audio, link, ...others] = content.slice(offset)
        // The text of the link takes its place, or comes behind it.
        const [resource, timed] = others.slice(since('links') ? 1 : 0)
        for (const block of [text, image, audio, link, resource]) {
          t.strictSame(block.annotations, {
            audience: ['user'], priority: 0.5, ...(since('meta') && { lastModified: '2025-01-01T00:00:00Z' })
          })
        }
        for (const block of [text, image, resource, resource.resource]) {
          t.equal('_meta' in block, since('meta'))
        }
        t.equal('annotations' in timed, since('meta'))
        t.equal(audio.type, since('audio') ? 'audio' : 'text')
        if (!since('audio')) t.match(audio.text, /audio\/wav/)
        t.equal(link.type, since('links') ? 'resource_link' : 'text')
        if (!since('links')) {
          for (const part of ['A link', 'test:link', 'Of some use.']) t.match(link.text, part)
        }
        t.equal('icons' in link, since('icons'))
      }
      t.strictSame(
        (await session.call('contents')).result._meta, { 'example.com/b': 2 },
        'a result has had _meta from the first'
      )
    })

    t.test('sends structured content if the revision has it, and always its text (359, 371, 377)', async (
      t
    ) => {
      for (
        const [name, structured] of [['object', { c: 1 }], ['bare', { c: 1 }], ['said', { c: 1 }]] as const
      ) {
        const { content, structuredContent } = (await session.call(name)).result
        t.strictSame(structuredContent, since('structured') ? structured : undefined)
        t.strictSame(JSON.parse(content.at(-1).text), structured)
      }
      for (const [name, value] of [['list', [1, 2]], ['number', 7], ['either', null]] as const) {
        const { result } = await session.call(name)
        t.notOk('structuredContent' in result)
        t.strictSame(JSON.parse(result.content[0].text), value)
      }
    })

    t.test('converts the messages of prompts and the contents of resources (377, 381)', async (t) => {
      const { messages } = (
        await session.request('prompts/get', { name: 'ask', arguments: { who: 'ann' } })
      ).result
      t.strictSame(messages.map(({ content }: Message) => content.type), [
        since('audio') ? 'audio' : 'text', since('links') ? 'resource_link' : 'text', 'resource'
      ])
      const { contents } = (await session.request('resources/read', { uri: 'test:one' })).result
      t.equal('_meta' in contents[0], since('meta'))
    })

    t.test('completes, with and without the completions capability (381)', async (t) => {
      const { result } = await session.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'ask' }, argument: { name: 'who', value: 'b' }
      })
      t.strictSame(result.completion.values, ['bob'])
    })

    t.test('tells the model in a result what is wrong with arguments (354, 369)', async (t) => {
      const { status, error, result } = await session.call('schema', { n: 'x' })
      t.strictSame([status, error, result.isError], [200, undefined, true])
      t.match(result.content[0].text, /^Invalid arguments for schema:\n- .*n/)
    })

    t.test('answers an unknown resource with the legacy error code (340)', async (t) => {
      const { status, error } = await session.request('resources/read', { uri: 'test:none' })
      t.strictSame([status, error.code, error.data], [200, -32002, { uri: 'test:none' }])
      t.equal((await session.request('resources/subscribe', { uri: 'test:none' })).error.code, -32002)
    })

    t.test('lets a client follow a file that does not exist yet', async (t) => {
      t.strictSame((await session.request('resources/subscribe', { uri: 'file:///later.txt' })).result, {})
    })
  })
}
