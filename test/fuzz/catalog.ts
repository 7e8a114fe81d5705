// The catalog that the fuzzed service serves: one of each kind of definition, and of each thing that a
// handler may do.

import type { Files } from '../helpers/catalog-folder.ts'
import { CAUSE_CANARY, PRIVATE_CANARY } from './canaries.ts'

const HEAD = "import { defineTool, elicit, sample, roots, ToolError, toolResult } from 'trivet'\n"
const tool = (options: string, run: string, before = '') =>
  `${HEAD}${before}export default defineTool({ description: 'A tool.', ${options}, run: ${run} })\n`
const input = (properties: string, more = '') =>
  `inputSchema: { type: 'object', properties: { ${properties} }${more} }`
const HANDLE = `import { defineHandle } from 'trivet'
export const notes = defineHandle({ kind: 'note', prefix: 'nte', idleTtlMs: 60_000, schema: { type: 'object',
  properties: { texts: { type: 'array', items: { type: 'string' } } }, required: ['texts'] } })
`
const FORM = `elicit.form({ message: 'Which?', schema: { type: 'object', properties: { size: { type: 'string',
  enum: ['s', 'm'] }, count: { type: 'integer', minimum: 1 } }, required: ['size'] } })`

/** The tools whose handlers fail on purpose. */
export const FAILING: ReadonlySet<string> = new Set([
  'fails', 'lies', 'task_fails', 'broken', 'shop://broken', 'slow'
])

export const CATALOG: Files = {
  'server.yaml': `name: fuzzed
title: Fuzzed
version: 1.0.0
instructions: A catalog for hostile requests.
pageSize: 3
scopes:
  - name: notes:read
    description: Reads notes.
    includes: [notes:list]
  - name: notes:list
    description: Lists notes.
`,
  'lib/notes.ts': HANDLE,
  'tools/echo.ts': tool(
    "name: 'echo', " +
      input("text: { type: 'string' }", ", required: ['text'], additionalProperties: false"),
    '({ text }) => text'
  ),
  'tools/checked.ts': tool(
    "name: 'checked', " + input(
      "word: { type: 'string', pattern: '^(a+)+$', maxLength: 50 }, count: { type: 'integer', minimum: 0, " +
        "maximum: 9, default: 3 }, choice: { enum: ['a', 'b', 1, null] }, " +
        "day: { type: 'string', format: 'date' }, list: { type: 'array', uniqueItems: true, " +
        "items: { type: 'object', properties: { n: { type: 'number' } } } }"
    ) + ", outputSchema: { type: 'object', properties: { seen: {} } }",
    '(args) => ({ seen: args })'
  ),
  'tools/routed.ts': tool(
    "name: 'routed', " + input(
      "region: { type: 'string', 'x-mcp-header': 'Region' }, " +
        "size: { type: 'integer', 'x-mcp-header': 'Size' }"
    ),
    '(args) => JSON.stringify(args)'
  ),
  'tools/fails.ts': tool("name: 'fails'", `() => { throw new Error('${CAUSE_CANARY}') }`),
  'tools/lies.ts': tool(
    "name: 'lies', outputSchema: { type: 'object', properties: { a: { type: 'number' } } }",
    `() => ({ a: '${CAUSE_CANARY}' })`
  ),
  'tools/refuses.ts': tool(
    "name: 'refuses'", `() => { throw new ToolError('No.', { cause: new Error('${CAUSE_CANARY}') }) }`
  ),
  'tools/blocks.ts': tool(
    "name: 'blocks'",
    `async (_, ctx) => toolResult({ content: [{ type: 'text', text: 'a' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' }, { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      await ctx.embedResource('file:///open.txt'), ctx.linkResource('book://1')], structuredContent: { a: 1 } })`
  ),
  'tools/streams.ts': tool(
    "name: 'streams'",
    `async (_, ctx) => { ctx.progress(1, 2, 'half'); ctx.log.warning('a line', { a: 1 })
      await new Promise((resolve) => setImmediate(resolve)); ctx.progress(2); return 'done' }`
  ),
  'tools/slow.ts': tool(
    "name: 'slow', timeoutMs: 30", '(_, ctx) => new Promise((resolve) => setTimeout(resolve, 60).unref())'
  ),
  'tools/keep.ts': tool(
    "name: 'keep', " + input("text: { type: 'string' }"),
    '({ text = "" }, ctx) => ctx.handles(notes).create({ texts: [text] })',
    "import { notes } from '../lib/notes.ts'\n"
  ),
  'tools/append.ts': tool(
    "name: 'append', " + input("id: { type: 'string' }, text: { type: 'string' }", ", required: ['id']"),
    '({ id, text = "" }, ctx) => ctx.handles(notes).update(id, (note) => { note.texts.push(text) })',
    "import { notes } from '../lib/notes.ts'\n"
  ),
  'tools/drop.ts': tool(
    "name: 'drop', " + input("id: { type: 'string' }", ", required: ['id']"),
    'async ({ id }, ctx) => { await ctx.handles(notes).delete(id); return "gone" }',
    "import { notes } from '../lib/notes.ts'\n"
  ),
  'tools/asks.ts': tool(
    "name: 'asks'",
    `async (_, ctx) => { const once = await ctx.once('k', () => 4)
      const { form } = await ctx.ask({ form: ${FORM} })
      return form.action === 'accept' ? [once, form.content.size].join() : form.action }`
  ),
  'tools/asks_all.ts': tool(
    "name: 'asks_all'",
    `async (_, ctx) => { const answers = await ctx.ask({ url: elicit.url({ message: 'Look', url: 'https://a.example' }),
      model: sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 9 }),
      roots: roots() }); return Object.keys(answers).join() }`
  ),
  'tools/uploads.ts': tool(
    "name: 'uploads'",
    `async (_, ctx) => { const file = await ctx.files.upload({ message: 'Send <b>it</b>', accept: ['.txt'],
      maxBytes: 2000, ttlMs: 60_000 })
      if (file.action !== 'accept') return file.action
      let size = 0; for await (const chunk of file.stream()) size += chunk.length
      return String(size) }`
  ),
  'tools/puts.ts': tool(
    "name: 'puts', " + input("name: { type: 'string' }, mimeType: { type: 'string' }"),
    `async ({ name = 'a.txt', mimeType }, ctx) => ({ content: [await ctx.files.put(Buffer.from('0123456789'),
      { name, ttlMs: 60_000, ...(mimeType !== undefined && { mimeType }) })] })`
  ),
  'tools/task.ts': tool(
    "name: 'task', task: 'required', onReplicaLoss: 'rerun', ttlMs: 60_000, keepResultMs: 1000, " +
      input("ms: { type: 'integer', minimum: 0, maximum: 50 }"),
    `async ({ ms = 0 }, ctx) => { const n = await ctx.step('n', {}, () => 1); await ctx.sleep(ms)
      return 'n' + n }`
  ),
  'tools/task_asks.ts': tool(
    "name: 'task_asks', task: 'required', ttlMs: 60_000, keepResultMs: 1000",
    `async (_, ctx) => { const { form } = await ctx.ask({ form: ${FORM} }); return form.action }`
  ),
  'tools/task_fails.ts': tool(
    "name: 'task_fails', task: 'required', ttlMs: 60_000, keepResultMs: 1000",
    `() => { throw new Error('${CAUSE_CANARY}') }`
  ),
  'tools/repeats.ts': tool(
    "name: 'repeats', dedupe: true, annotations: { idempotentHint: true }, " + input("n: { type: 'number' }"),
    '({ n }) => String(n)'
  ),
  'tools/limited.ts': tool(
    "name: 'limited', limits: { calls: '5/1s', running: 1, resultBytes: 2000 }", '() => "x"'
  ),
  'tools/reader.ts': tool("name: 'reader', scopes: ['notes:read'], whenMissing: 'challenge'", '() => "read"'),
  'tools/hidden.ts': tool(
    `name: 'hidden', title: '${PRIVATE_CANARY}', scopes: ['nobody:has'], ui: 'hidden'`,
    `() => '${PRIVATE_CANARY}'`
  ),
  'tools/asks_scopes.ts': tool(
    "name: 'asks_scopes', title: 'Asks', scopes: ['nobody:has'], whenMissing: 'challenge'",
    `() => '${PRIVATE_CANARY}'`
  ),
  'tools/shows.ts': tool("name: 'shows', ui: 'panel', visibility: ['model', 'app']", '() => ({ a: 1 })'),
  'tools/authorizes.ts': tool(
    "name: 'authorizes', authorize: ({ subject }) => subject === 'ada' || 'Only Ada.', " +
      input("n: { type: 'integer' }"), '() => "for Ada"'
  ),
  'prompts/greet.md': `---
title: Greet
description: Greets.
arguments:
  - name: who
    required: true
    complete: [Ada, Grace, Barbara]
  - name: tone
---
Hello {{who}}, {{tone}}.
<!-- assistant -->
Hello.
`,
  'prompts/secret.md': `---
title: ${PRIVATE_CANARY}
description: Hidden.
scopes: ['nobody:has']
---
${PRIVATE_CANARY}
`,
  'prompts/modules.ts': `import { definePrompt } from 'trivet'
export const talks = definePrompt({ name: 'talks', description: 'Talks.',
  arguments: [{ name: 'topic', complete: (typed, { arguments: { tone } }) => [typed + 'x', String(tone)] },
    { name: 'tone', complete: ['dry', 'warm'] }],
  render: ({ topic = '' }) => [{ role: 'user', content: { type: 'text', text: topic } }] })
export const broken = definePrompt({ name: 'broken', description: 'Fails.',
  arguments: [{ name: 'x', complete: () => { throw new Error('${CAUSE_CANARY}') } }],
  render: () => { throw new Error('${CAUSE_CANARY}') } })
`,
  'resources/open.txt': 'an open text\n',
  'resources/folder/a.json': '{"a":1}',
  'resources/folder/b.bin': new Uint8Array([0, 255, 1, 254]),
  'resources/private.txt': PRIVATE_CANARY,
  'resources/private.txt.meta.yaml': `title: ${PRIVATE_CANARY}\nscopes: ['nobody:has']\n`,
  'resources/live.resource.ts': `import { defineResource, defineResourceTemplate } from 'trivet'
export const hours = defineResource({ uri: 'shop://hours', name: 'hours', mimeType: 'text/plain', read: () => '9-18' })
export const book = defineResourceTemplate({ uriTemplate: 'book://{id}', name: 'book', mimeType: 'text/plain',
  complete: { id: ['1', '2', '33'] },
  list: () => [{ variables: { id: '1' }, name: 'one' }, { variables: { id: 'é' }, name: 'other' }],
  read: ({ id }) => id.length > 20 ? undefined : 'book ' + id })
export const orders = defineResourceTemplate({ uriTemplate: 'shop://orders{/path*}{?status,page}', name: 'orders',
  read: (variables) => JSON.stringify(variables) })
export const broken = defineResource({ uri: 'shop://broken', name: 'broken',
  read: () => { throw new Error('${CAUSE_CANARY}') } })
export const hidden = defineResource({ uri: 'shop://hidden', name: '${PRIVATE_CANARY}', scopes: ['nobody:has'],
  read: () => '${PRIVATE_CANARY}' })
`,
  'skills/write/SKILL.md': '---\nname: write\ndescription: Writes.\n---\nWrite.\n',
  'skills/write/references/style.md': 'Short.\n',
  'apps/panel/app.yaml': 'title: Panel\ndescription: A panel.\n',
  'apps/panel/index.html': '<!doctype html><title>Panel</title><script src="./panel.js"></script>\n',
  'apps/panel/panel.js': 'document.title = "x"\n',
  'apps/hidden/app.yaml': `title: ${PRIVATE_CANARY}\nscopes: ['nobody:has']\n`,
  'apps/hidden/index.html': `<!doctype html><title>${PRIVATE_CANARY}</title>\n`
}
