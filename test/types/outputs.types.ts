// What a tool without an output schema may return. The type check is the test. Nothing here runs.

import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import {
  definePrompt, defineResource, defineTool, toolResult, ToolError, type CallToolResult, type ContentBlock
} from 'trivet'

interface Hit { id: string, score?: number, tags: readonly string[] }
interface Article { content: string, author: { name: string } }
class Money {
  readonly cents = 100
  toJSON (): string { return `${this.cents / 100}` }
}
declare const hit: Hit
declare const hits: readonly Hit[]
declare const article: Article
declare const maybe: Hit | undefined
declare const counts: Record<string, number>
declare const parsed: ReturnType<typeof JSON.parse>
declare const blocks: readonly ContentBlock[]
declare const result: CallToolResult
declare const unsure: unknown
const made: ContentBlock[] = []

const name = 'a'

export const accepted = [
  defineTool({ name, run: () => 'text' }),
  defineTool({ name, run: () => 5 }),
  defineTool({ name, run: () => null }),
  defineTool({ name, run: () => true }),
  defineTool({ name, run: () => {} }),
  defineTool({ name, run: async () => {} }),
  defineTool({ name, run: () => undefined }),
  defineTool({ name, run: async () => 'text' }),
  defineTool({ name, run: async (args) => args.a === 1 ? 'one' : { a: 1, b: [{ c: null }] } }),
  defineTool({ name, run: () => ({}) }),
  defineTool({ name, run: () => [1, 'two', { three: 3 }] as const }),
  defineTool({ name, run: () => hit }),
  defineTool({ name, run: () => maybe }),
  defineTool({ name, run: async () => hits }),
  defineTool({ name, run: async () => ({ hits, counts, at: new Date() }) }),
  defineTool({ name, run: () => article }),
  defineTool({ name, run: () => ({ content: 'a text', isError: 'no flag' }) }),
  defineTool({ name, run: () => ({ content: { of: article } }) }),
  defineTool({ name, run: () => ({ apply: true, call: 'me', stack: 'TypeScript', message: '' }) }),
  defineTool({ name, run: () => counts }),
  defineTool({ name, run: () => parsed }),
  defineTool({ name, run: () => new Money() }),
  defineTool({ name, run: () => new URL('https://example.com') }),
  defineTool({ name, run: async () => JSON.parse(await readFile('a.json', 'utf8')) }),
  defineTool({ name, run: () => result }),
  defineTool({ name, run: () => ({ content: blocks }) }),
  defineTool({ name, run: () => ({ content: made, isError: true }) }),
  defineTool({ name, run: () => ({ content: [{ type: 'text', text: 'a' }] }) }),
  defineTool({ name, run: (args) => ({ content: [{ type: 'text', text: String(args.a) }] }) }),
  defineTool({ name, run: async (args, ctx) => ({ content: [{ type: 'text', text: ctx.requestId }] }) }),
  defineTool({
    name,
    async run (args) {
      if (args.a === undefined) return 'nothing'
      return { content: [{ type: 'image', data: '', mimeType: 'image/png' }, { type: 'text', text: 'a' }] }
    }
  }),
  defineTool({
    name,
    run: () => ({ content: hits.map(({ id }) => ({ type: 'text', text: id })), structuredContent: { hits } })
  }),
  defineTool({ name, run: () => toolResult({ structuredContent: unsure }) }),
  defineTool({ name, run: () => { throw new ToolError('no') } })
]

/** What handlers of the official SDK return, beside an output schema. */
const sum = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const

export const results = [
  defineTool({ name, outputSchema: sum, run: () => result }),
  defineTool({ name, outputSchema: sum, run: () => ({ content: blocks, structuredContent: { sum: 1 } }) }),
  defineTool({
    name, outputSchema: sum, run: async () => ({ content: [{ type: 'text', text: 'a' }], isError: true })
  }),
  // @ts-expect-error: neither a result nor what the schema describes
  defineTool({ name, outputSchema: sum, run: () => ({ content: 'a text' }) })
]

export const refused = [
  // @ts-expect-error: a misspelt kind of block
  defineTool({ name, run: () => ({ content: [{ type: 'imgae', data: '', mimeType: 'image/png' }] }) }),
  // @ts-expect-error: in a promise too
  defineTool({ name, run: async () => ({ content: [{ type: 'imgae', data: '', mimeType: '' }] }) }),
  // @ts-expect-error: a block without its text
  defineTool({ name, run: (args) => ({ content: [{ type: 'text', txt: String(args.a) }] }) }),
  // @ts-expect-error: a Map
  defineTool({ name, run: () => new Map<string, number>() }),
  // @ts-expect-error: a Map in a promise
  defineTool({ name, run: async () => new Map() }),
  // @ts-expect-error: a Set
  defineTool({ name, run: () => new Set(['a']) }),
  // @ts-expect-error: a Date
  defineTool({ name, run: () => new Date() }),
  // @ts-expect-error: a Date in a promise
  defineTool({ name, run: async () => new Date() }),
  // @ts-expect-error: a function
  defineTool({ name, run: () => () => 'text' }),
  // @ts-expect-error: a function in a promise
  defineTool({ name, run: async () => String }),
  // @ts-expect-error: a class
  defineTool({ name, run: () => Money }),
  // @ts-expect-error: a bigint
  defineTool({ name, run: () => 1n }),
  // @ts-expect-error: a bigint in a promise
  defineTool({ name, run: async () => 1n }),
  // @ts-expect-error: a symbol
  defineTool({ name, run: () => Symbol('a') }),
  // @ts-expect-error: bytes
  defineTool({ name, run: async () => await readFile('a.png') }),
  // @ts-expect-error: a regular expression
  defineTool({ name, run: () => /a/ }),
  // @ts-expect-error: a generator
  defineTool({ name, * run () { yield 'a' } }),
  // @ts-expect-error: an asynchronous generator
  defineTool({ name, async * run () { yield 'a' } }),
  // @ts-expect-error: a stream
  defineTool({ name, run: () => Readable.from(['a']) }),
  // @ts-expect-error: a response that was not read
  defineTool({ name, run: async () => await fetch('https://example.com') }),
  // @ts-expect-error: nobody knows what it is
  defineTool({ name, run: () => unsure })
]

/** Constants that definitions share. */
const annotations = { readOnlyHint: true, title: 'A' } as const
const icons = [{ src: 'https://example.com/a.png', sizes: ['48x48'], theme: 'dark' }] as const
const shown = { audience: ['user'], priority: 1 } as const
const schema = {
  type: 'object', properties: { size: { enum: ['small', 'large'] } }, required: ['size']
} as const
const shared = { icons, scopes: ['a:read'], _meta: { 'example.com/team': ['a'] } } as const

export const constants = [
  defineTool({
    name,
    ...shared,
    annotations,
    requiredCapabilities: { sampling: {} } as const,
    limits: { calls: '10/1m' } as const,
    inputSchema: schema,
    outputSchema: schema,
    run: ({ size }) => ({ size })
  }),
  defineTool({ name, run: () => ({ content: [{ type: 'text', text: 'a', annotations: shown }] as const }) }),
  defineTool({ name, run: () => toolResult({ content: [{ type: 'text', text: 'a' }] as const }) }),
  defineTool({
    name, run: () => { throw new ToolError('a', { content: [{ type: 'text', text: 'b' }] as const }) }
  }),
  definePrompt({
    name,
    ...shared,
    arguments: [{ name: 'tone', complete: ['dry', 'warm'] }] as const,
    render: () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'a' } }] as const })
  }),
  defineResource({ name, ...shared, annotations: shown, uri: 'a:b', read: () => 'a' })
]
