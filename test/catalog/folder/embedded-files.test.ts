// Markdown prompts that embed plain files, and that are completed by modules.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createApp } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send, type Message } from '../../helpers/request.ts'
import { authenticator, resultOf } from '../compiled/scoped-catalog.ts'

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const PNG_BASE64 = 'iVBORw0KGgo='

const FILES: Files = {
  'resources/cover.png': PNG,
  'resources/sounds/a bell.mp3': PNG,
  'resources/policies/returns.md': '# Returns',
  'resources/data.bin': PNG
}

const text = (role: string, written: string) => ({ role, content: { type: 'text', text: written } })
const image = { type: 'image', data: PNG_BASE64, mimeType: 'image/png' }

async function messagesOf (files: Files, prompt: string, args: object = {}): Promise<Message[]> {
  const app = await buildApp(t, { ...files, 'prompts/p.md': prompt })
  const params = { name: 'p', arguments: { ...args } }
  const { response } = await send(app, { method: 'prompts/get', params })
  return response.result.messages
}

t.test('an image on a line of its own embeds a file, by its type (169, 172)', async (t) => {
  const prompt = `---
arguments: [{ name: title }]
---
Look at {{title}}:

![The cover](../resources/cover.png)
![](<../resources/sounds/a bell.mp3> "A bell")
  ![x](file:///policies/returns.md)\r
<!-- assistant -->
![](../resources/data.bin)
I see.
![](file:///sounds/a%20bell.mp3)
`
  const bell = { type: 'audio', data: PNG_BASE64, mimeType: 'audio/mpeg' }
  t.strictSame(await messagesOf(FILES, prompt, { title: '![](../resources/data.bin)' }), [
    text('user', 'Look at ![](../resources/data.bin):'),
    { role: 'user', content: image },
    { role: 'user', content: bell },
    {
      role: 'user',
      content: {
        type: 'resource',
        resource: { uri: 'file:///policies/returns.md', mimeType: 'text/markdown', text: '# Returns' }
      }
    },
    {
      role: 'assistant',
      content: {
        type: 'resource',
        resource: { uri: 'file:///data.bin', mimeType: 'application/octet-stream', blob: PNG_BASE64 }
      }
    },
    text('assistant', 'I see.'),
    { role: 'assistant', content: bell }
  ])
  t.strictSame(await messagesOf(FILES, '![](file:///cover.png)'), [{ role: 'user', content: image }], 'alone')
})

t.test('everything else stays text', async (t) => {
  const lines = [
    'See ![](../resources/cover.png)', '![](../resources/cover.png) here', '![a](https://example.com/a.png)',
    '![a](data:image/png;base64,AA==)', '![a](/cover.png)', '![a](#part)', '[a](../resources/cover.png)',
    '![[cover.png]]', '    ![](../resources/cover.png)', '![a](b c.png)',
    '```md\n![](../resources/cover.png)\n```',
    '~~~~\n![](../resources/gone.png)\n~~~\n![](../resources/gone.png)\n~~~~'
  ]
  for (const line of lines) {
    t.strictSame(await messagesOf(FILES, `A\n${line}\nB`), [text('user', `A\n${line}\nB`)], line)
  }
  const prompt = '---\narguments: [{ name: url }]\n---\n![a]({{ url }})'
  t.strictSame(await messagesOf(FILES, prompt, { url: 'x.png' }), [
    text('user', '![a](x.png)')
  ], 'the value of an argument names no file')
})

t.test('a file that cannot be embedded is a problem with its line', async (t) => {
  const front = '---\narguments: [{ name: a }]\n---\n'
  const cases: ReadonlyArray<readonly [prompt: string, line: number, rule: RegExp]> = [
    ['![](../resources/gone.png)', 1, /^embeds .*, but there is no plain file resources\/gone\.png$/],
    [`${front}One\n\n![](cover.png)`, 6, /^embeds cover\.png, which is not under resources\//],
    ['![](../../etc/passwd)', 1, /which is not under resources\//],
    ['![](file:///../server.yaml)', 1, /no plain file/],
    ['![](file://host/cover.png)', 1, /which is not under resources\//],
    ['![](../resources/policies)', 1, /no plain file resources\/policies$/],
    ['![](../resources/cover.png.meta.yaml)', 1, /no plain file/],
    ['![](../resources/%zz.png)', 1, /malformed percent-encoding$/],
    [`${front}![](../resources/{{a}}.png)`, 4, /no argument can be a part of a path$/],
    [`${front}![](../resources/{{ a }}.png)`, 4, /no argument can be a part of a path$/],
    ['![](../resources/large.txt)', 1, /may have 1000000 bytes together, got 1000001$/]
  ]
  const files = {
    ...FILES, 'resources/large.txt': 'x'.repeat(1_000_001), 'resources/cover.png.meta.yaml': 'title: Cover'
  }
  for (const [prompt, line, rule] of cases) {
    t.match(await problemsOf(t, { ...files, 'prompts/p.md': prompt }), [
      { file: 'prompts/p.md', place: `line ${line}`, rule }
    ], prompt)
  }
  const both = '![](../resources/a.txt)\n![](../resources/gone.txt)\n![](../resources/b.txt)'
  const halves = { 'resources/a.txt': 'x'.repeat(600_000), 'resources/b.txt': 'x'.repeat(600_000) }
  t.match(await problemsOf(t, { ...halves, 'prompts/p.md': both }), [
    { place: 'line 2', rule: /gone/ }, { place: 'line 3', rule: /bytes together, got 1200000$/ }
  ], 'all problems of a prompt, and the files count together')
})

t.test('a prompt needs the scopes of the files that it embeds (107, 165)', async (t) => {
  const app = await buildApp(t, {
    'resources/a.txt': 'secret a',
    'resources/a.txt.meta.yaml': 'scopes: [a]\nannotations: { priority: 1 }',
    'resources/b.txt': 'secret b',
    'resources/b.txt.meta.yaml': 'scopes: [b]',
    'prompts/p.md': '---\nscopes: [c]\n---\n![](file:///a.txt)\n![](file:///b.txt)',
    'prompts/q.md': '---\nwhenMissing: challenge\n---\n![](file:///a.txt)'
  }, { authenticator })
  const names = async (held: string) => {
    return (await resultOf(app, 'prompts/list', held)).prompts.map(({ name }: Message) => name)
  }
  t.strictSame(await names(''), ['q'])
  t.strictSame(await names('a b'), ['q'])
  t.strictSame(await names('a b c'), ['p', 'q'])
  const get = async (held: string, name: string) => await send(app, {
    method: 'prompts/get', params: { name }, headers: { authorization: held }
  })
  t.match((await get('b c', 'p')).response.error, { code: -32602 })
  t.equal((await get('b', 'q')).status, 403)
  t.match((await get('a', 'q')).response.result.messages, [
    { content: { annotations: { priority: 1 }, resource: { text: 'secret a' } } }
  ], 'and a block has the annotations of its file')
})

t.test('a prompt embeds a file as it is now', async (t) => {
  const root = await writeCatalog(t, { ...FILES, 'prompts/p.md': '![](../resources/cover.png)' })
  const { logger, lines } = createReadableLog()
  const { logLevel, ...quiet } = QUIET
  const app = await createApp({ catalog: root, ...quiet, logger })
  t.teardown(async () => await app.close())
  await rm(join(root, 'resources/cover.png'))
  const { response } = await send(app, { method: 'prompts/get', params: { name: 'p' } })
  t.match(response.error, { code: -32603, message: 'Internal error' })
  t.match(lines.find(({ err }) => err !== undefined)?.err?.message, /^file:\/\/\/cover\.png is gone/)
})

t.test('front matter takes icons, _meta and completion by a module (133, 171)', async (t) => {
  const app = await buildApp(t, {
    'lib/titles.ts': `
      export const complete = async (typed: string, { arguments: { genre } }) => [typed + ' ' + genre]
      export default ['Emma', 'Dune']`,
    'prompts/deep/p.md': `---
icons: [{ src: 'https://example.com/p.png' }]
_meta: { example.com/team: shop }
arguments:
  - { name: title, complete: ../../lib/titles.ts#complete }
  - { name: other, complete: ../../lib/titles.ts }
  - { name: genre, complete: [SF] }
---
{{title}}`
  })
  t.strictSame((await send(app, { method: 'prompts/list' })).response.result.prompts, [{
    name: 'p',
    icons: [{ src: 'https://example.com/p.png' }],
    arguments: [{ name: 'title' }, { name: 'other' }, { name: 'genre' }],
    _meta: { 'example.com/team': 'shop' }
  }])
  const complete = async (name: string, value: string) => (await send(app, {
    method: 'completion/complete',
    params: {
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name, value },
      context: { arguments: { genre: 'SF' } }
    }
  })).response.result.completion.values
  t.strictSame(await complete('title', 'Du'), ['Du SF'])
  t.strictSame(await complete('other', 'du'), ['Dune'])
  t.strictSame(await complete('genre', ''), ['SF'])
})

t.test('a completion that cannot be loaded is a problem with its argument', async (t) => {
  const cases: ReadonlyArray<readonly [complete: string, place: string, rule: RegExp]> = [
    ['../lib/titles.ts#gone', 'arguments.a.complete', /^lib\/titles\.ts exports no function and no list .* as gone$/],
    ['../lib/titles.ts', 'arguments.a.complete', / as default$/],
    ['../lib/titles.ts#number', 'arguments.a.complete', / as number$/],
    ['../lib/titles.ts#toString', 'arguments.a.complete', / as toString$/],
    ['../lib/gone.ts#x', 'arguments.a.complete, in lib/gone.ts', /ENOENT|does not exist/],
    ['../lib/broken.ts#x', 'arguments.a.complete, in lib/broken.ts, line 2', /^broken/],
    ['../../titles.ts#x', '', /must be a list, or an export of a module of the catalog/],
    ['titles', '', /must be a list, or an export of a module of the catalog .* got "titles"$/],
    ['../data.txt#x', '', /must be a list, or an export/],
    ['{ a: 1 }', '', /^front matter: arguments\[0\]\.complete: must be/]
  ]
  const files = {
    'lib/titles.ts': 'export const number = 1',
    'lib/broken.ts': "\nthrow new Error('broken')\nexport const x = 1"
  }
  for (const [complete, place, rule] of cases) {
    const prompt = `---\narguments:\n  - name: a\n    complete: ${complete}\n---\n{{a}}`
    const problems = await problemsOf(t, { ...files, 'prompts/p.md': prompt })
    t.match(problems, [{ file: 'prompts/p.md', place, rule }], complete)
  }
  t.match(await problemsOf(t, { 'prompts/p.md': '---\ntitel: A\n---\nA' }), [
    { rule: 'front matter: titel: is not known here; did you mean title?' }
  ])
})
