// Every text that a client gets is well-formed, whatever a handler or a client has made of it (1).

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { cut } from '../src/base/text.ts'
import { anyText } from './helpers/any-text.ts'
import { buildApp, listen } from './helpers/app.ts'
import { toolModule, type Files } from './helpers/catalog-folder.ts'
import { makeFolder } from './helpers/folder.ts'
import { toPost, type Message, type RequestParts } from './helpers/request.ts'
import { openSession } from './helpers/session.ts'
import { findIllFormed, HALF } from './helpers/well-formed.ts'
import { TaskClient, TASKS } from './features/tasks/task-client.ts'

const shared = { text: '' }
Object.assign(globalThis, { outgoing: shared })

const INPUT = "inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }"
const tool = (name: string, run: string, options = INPUT) => ({
  [`tools/${name}.ts`]: `import { elicit } from 'trivet'\n${toolModule(name, options, run)}`
})
const CATALOG: Files = {
  'server.yaml': 'name: shop\ntitle: "Half \\uD83D"\ninstructions: "Half \\uD83D"\n',
  ...tool('text', '({ text }) => text'),
  ...tool('structured', '({ text }) => ({ [text]: text, list: [{ [text]: [text] }] })'),
  ...tool('checked', '({ text }) => ({ [text]: text })', `${INPUT}, outputSchema: { type: 'object' }`),
  ...tool('embedded', `({ text }) => toolResult({ content: [
    { type: 'resource', resource: { uri: 'x://a', text } }, { type: 'text', text, _meta: { note: text } },
    { type: 'resource_link', uri: 'x://b', name: text, title: text, description: text }
  ], structuredContent: { text }, _meta: { note: { [text]: text } } })`),
  ...tool('refused', `({ text }) => {
    throw new ToolError(text, { content: [{ type: 'text', text }] })
  }`),
  ...tool('failed', '({ text }) => { throw new Error(text) }'),
  ...tool('wrong', '({ text }) => ({ number: text })',
    `${INPUT}, outputSchema: { type: 'object', properties: { number: { type: 'number' } } }`),
  ...tool('told', `({ text }, ctx) => {
    ctx.progress(1, 2, text)
    ctx.log.error(text, { [text]: text })
    return text
  }`),
  ...tool('asked', `async ({ text }, ctx) => {
    const schema = {
      type: 'object', properties: { name: { type: 'string', title: text, description: text, default: text } }
    }
    await ctx.ask({ who: elicit.form({ message: text, schema }) })
    return text
  }`),
  ...tool('works', `async ({ text }, ctx) => {
    ctx.progress(1, 2, text)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const { who } = await ctx.ask({ who: elicit.form({
      message: text, schema: { type: 'object', properties: { name: { type: 'string' } } }
    }) })
    ctx.progress(2, 2, text)
    return { [text]: who.content.name }
  }`, `${INPUT}, task: 'required'`),
  ...tool(
    'chosen', '({ c }) => c',
    "inputSchema: { type: 'object', properties: { c: { enum: ['cut \\ud83d'] } } }"
  ),
  ...tool('kept', '({ text }) => text', `${INPUT}, audit: 'values'`),
  ...tool('titled', '() => "ok"', "title: 'Half \\ud83d', annotations: { title: '\\udc00' }, " +
    "inputSchema: { type: 'object', properties: { a: { description: 'half \\ud83d' } } }"),
  'prompts/say.md': '---\narguments:\n  - name: text\n---\nSay {{text}} twice: {{text}}\n',
  'prompts/complete.ts': `import { definePrompt } from 'trivet'
    export default definePrompt({ name: 'complete', render: () => 'x', arguments: [
      { name: 'text', description: 'half \\ud83d', complete: (typed) => ({ values: [typed, typed + '\\ud83d'] }) }
    ] })`,
  'resources/a.resource.ts': `import { defineResource } from 'trivet'
    export const plain = defineResource({
      uri: 'x://plain', name: 'plain', title: 'half \\ud83d', read: () => globalThis.outgoing.text
    })
    export const contents = defineResource({
      uri: 'x://contents', name: 'contents',
      read: () => ({ uri: 'x://contents', text: globalThis.outgoing.text, _meta: { n: globalThis.outgoing.text } })
    })`
}

const call = (name: string, more: object = {}) => (text: string): RequestParts => (
  { method: 'tools/call', params: { name, arguments: { text }, ...more } }
)
const DOORS: { readonly [door: string]: (text: string) => RequestParts } = {
  text: call('text'),
  'structured content': call('structured'),
  'structured content with a schema': call('checked'),
  'embedded resources and links': call('embedded'),
  'a tool error': call('refused'),
  'an internal error': call('failed'),
  'an output that breaks its schema': call('wrong'),
  'progress and log': (text) => ({
    ...call('told')(text), meta: { progressToken: 'p', 'io.modelcontextprotocol/logLevel': 'debug' }
  }),
  elicitation: (text) => ({
    ...call('asked')(text),
    meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
  }),
  'an argument that is refused': (text) => (
    { method: 'tools/call', params: { name: 'text', arguments: { text: [text], [text]: { [text]: text } } } }
  ),
  'a prompt': (text) => ({ method: 'prompts/get', params: { name: 'say', arguments: { text } } }),
  'a prompt with an unknown argument': (text) => (
    { method: 'prompts/get', params: { name: 'say', arguments: { [text]: text } } }
  ),
  completion: (text) => ({
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'complete' }, argument: { name: 'text', value: text } }
  }),
  'a read': () => ({ method: 'resources/read', params: { uri: 'x://plain' } }),
  'the same read': () => ({ method: 'resources/read', params: { uri: 'x://plain' } }),
  'the same read again': () => ({ method: 'resources/read', params: { uri: 'x://plain' } }),
  'a read of contents': () => ({ method: 'resources/read', params: { uri: 'x://contents' } }),
  'an unknown cursor': (text) => ({ method: 'tools/list', params: { cursor: text } }),
  'an unknown name': (text) => ({ method: 'tools/call', params: { name: text } })
}

/** Doors whose answers say nothing of the text. */
const SILENT = ['an internal error', 'an output that breaks its schema', 'an unknown cursor']

/** Returns what is not well-formed in the body of an answer, as bytes, as JSON and as texts. */
function problemsOf (body: Buffer): string[] {
  const text = body.toString()
  if (!Buffer.from(text).equals(body)) return ['the bytes are no UTF-8']
  const bodies = text.startsWith('{') ? [text] : text.split('\n').filter((line) => line.startsWith('data: '))
  return bodies.flatMap((one) => {
    const json = one.replace(/^data: /, '')
    return [...HALF.test(json) ? [`a half in ${json}`] : [], ...findIllFormed(JSON.parse(json))]
  })
}

t.test('answers', async (t) => {
  const auditFile = join(await makeFolder(t), 'audit.jsonl')
  const app = await buildApp(t, CATALOG, { auditFile })
  const post = async (parts: RequestParts): Promise<Buffer> => {
    const { headers, body } = toPost({ headers: { 'mcp-name': undefined }, ...parts })
    const name = parts.params?.name ?? parts.params?.uri
    const named = typeof name === 'string' && /^(?:tools.call|prompts.get|resources.read)$/.test(parts.method)
    const encoded = `=?base64?${Buffer.from(String(name)).toString('base64')}?=`
    const sent = named ? { ...headers, 'mcp-name': encoded } : headers
    return (await app.inject({ method: 'POST', url: '/mcp', headers: sent, body })).rawPayload
  }
  for (const [door, toParts] of Object.entries(DOORS)) {
    t.test(door, async (t) => {
      await fc.assert(fc.asyncProperty(anyText(), async (text) => {
        shared.text = text
        const body = await post(toParts(text))
        const problems = problemsOf(body)
        if (problems.length > 0) throw new Error(problems.join('\n'))
        return body.length > 0
      }), { numRuns: 40, examples: [['\ud83d'], ['a\udc00"\\ud800'], ['\ud83d'.repeat(300)]] })
      shared.text = 'probe'
      if (!SILENT.includes(door)) t.match(String(await post(toParts('probe'))), 'probe')
    })
  }
  t.test('a half becomes U+FFFD, and the text beside structured content is equal', async (t) => {
    const { result } = JSON.parse(String(await post(call('structured')('a\ud83d'))))
    t.strictSame(result.structuredContent, { 'a\ufffd': 'a\ufffd', list: [{ 'a\ufffd': ['a\ufffd'] }] })
    t.strictSame(JSON.parse(result.content[0].text), result.structuredContent)
  })
  t.test('a choice is taken as it is sent', async (t) => {
    const params = { name: 'chosen', arguments: { c: 'cut \ufffd' } }
    const { result } = JSON.parse(String(await post({ method: 'tools/call', params })))
    t.strictSame([result.isError, result.content[0].text], [undefined, 'cut \ufffd'])
  })
  t.test('lists', async (t) => {
    for (const method of ['server/discover', 'tools/list', 'prompts/list', 'resources/list']) {
      const body = await post({ method })
      t.strictSame(problemsOf(body), [], method)
      t.match(String(body), /Half \\ufffd|half \\ufffd/, method)
    }
  })
  t.test('the audit log', async (t) => {
    for (const text of ['\ud83d', '{"\udc00":"\\ud800"}']) await post(call('kept')(text))
    await app.close()
    const lines = readFileSync(auditFile)
    t.ok(Buffer.from(lines.toString()).equals(lines))
    const calls: Message[] = lines.toString().trim().split('\n').map((line) => JSON.parse(line))
    t.strictSame(findIllFormed(calls), [])
    t.match(calls.at(-1), { arguments: { text: '{"\ufffd":"\\ud800"}' } })
  })
})

t.test('an id that is not well-formed is refused, and so is such a token of progress', async (t) => {
  const app = await buildApp(t, CATALOG)
  const refused = async (parts: RequestParts) => {
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/mcp', ...toPost(parts) })
    return { statusCode, ...JSON.parse(body) }
  }
  t.match(await refused({ ...call('text')('x'), id: 'a\ud83d' }), {
    statusCode: 400, id: undefined, error: { code: -32600, message: /"id" must be an integer or well-formed text/ }
  })
  t.match(await refused({ ...call('text')('x'), meta: { progressToken: '\udc00' } }), {
    id: 1, error: { code: -32602, message: /progressToken must be an integer or well-formed text/ }
  })
  t.match(await refused({ ...call('text')('x'), id: '😀' }), { id: '😀', result: { content: [{ text: 'x' }] } })
})

const TEXTS = ['\ud83d', 'a\udc00"\\ud800', '👩‍💻'.repeat(250), `${'x'.repeat(999)}😀`]

t.test('tasks', async (t) => {
  const app = await buildApp(t, CATALOG, { constants: { taskGraceMs: 20 } })
  const send = async (parts: RequestParts) => {
    const post = { method: 'POST', url: '/mcp', ...toPost(parts) } as const
    const { statusCode: status, rawPayload } = await app.inject(post)
    t.strictSame(problemsOf(rawPayload), [], parts.method)
    return { status, response: JSON.parse(String(rawPayload)) }
  }
  const client = new TaskClient(send, { capabilities: { ...TASKS, elicitation: {} } })
  for (const text of TEXTS) {
    const { taskId } = await client.call('works', { text })
    const asking = await client.until(taskId, 'input_required')
    t.match(asking.inputRequests.who.params, { message: text.toWellFormed() })
    t.equal(asking.statusMessage, cut(text, 1000).toWellFormed())
    await client.update(taskId, { who: { action: 'accept', content: { name: text } } })
    const { result } = await client.until(taskId, 'completed')
    t.strictSame(result.structuredContent, { [text.toWellFormed()]: text.toWellFormed() })
  }
})

t.test('sessions of earlier revisions', async (t) => {
  const app = await buildApp(t, CATALOG)
  const client = await openSession(t, await listen(app))
  await client.request('logging/setLevel', { level: 'debug' })
  for (const text of TEXTS) {
    const replies = [
      await client.call('text', { text }),
      await client.call('structured', { text }),
      await client.call('told', { text }, { meta: { progressToken: 'p' } }),
      await client.call('refused', { text }),
      await client.request('prompts/get', { name: 'say', arguments: { text } }),
      await client.request(`x/${text}`),
      await client.request('resources/list')
    ]
    for (const { text: body, events } of replies) {
      const bodies = [body, ...events.map(({ data = '' }) => data)].filter((one) => one !== '')
      t.strictSame(bodies.flatMap((one) => problemsOf(Buffer.from(one))), [])
    }
    t.match(replies[0]?.result.content, [{ text: text.toWellFormed() }])
    t.ok((replies[2]?.events.length ?? 0) > 2, 'notifications come before the answer')
  }
})
