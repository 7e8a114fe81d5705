// A catalog whose answers have any text in any place, and the requests for them.

import type { FastifyInstance } from 'fastify'
import { toolModule, type Files } from './catalog-folder.ts'
import { toPost, type RequestParts } from './request.ts'

/** What reads return. */
export const shared = { text: '' }
Object.assign(globalThis, { outgoing: shared })

const INPUT = "inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }"
const tool = (name: string, run: string, options = INPUT) => ({
  [`tools/${name}.ts`]: `import { elicit } from 'trivet'\n${toolModule(name, options, run)}`
})
/** Each door of it lets a text out. */
export const CATALOG: Files = {
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

export const call = (name: string, more: object = {}) => (text: string): RequestParts => (
  { method: 'tools/call', params: { name, arguments: { text }, ...more } }
)
/** Requests whose answers have a text. */
export const DOORS: { readonly [door: string]: (text: string) => RequestParts } = {
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

/** Resolves to the body of the answer. */
export async function postParts (app: FastifyInstance, parts: RequestParts): Promise<Buffer> {
  const { headers, body } = toPost({ headers: { 'mcp-name': undefined }, ...parts })
  const name = parts.params?.name ?? parts.params?.uri
  const named = typeof name === 'string' && /^(?:tools.call|prompts.get|resources.read)$/.test(parts.method)
  const encoded = `=?base64?${Buffer.from(String(name)).toString('base64')}?=`
  const sent = named ? { ...headers, 'mcp-name': encoded } : headers
  return (await app.inject({ method: 'POST', url: '/mcp', headers: sent, body })).rawPayload
}
