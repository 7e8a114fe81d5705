// The types that authors see in their editor. The type check is the test: these lines compile only if the
// types are inferred as promised. Nothing here runs.

import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import {
  defineDependency, definePrompt, defineResourceTemplate, defineSettings, defineTool, defineUpstream, elicit,
  sample, toolResult, type CompletionFunction, type ContentBlock, type Context, type Principal
} from 'trivet'
import { Type } from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
function same<A, B> (_: Same<A, B>): void {}

const genres: string[] = ['satire']

export const plain = defineTool({
  name: 'plain',
  inputSchema: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      year: { type: 'integer' },
      limit: { type: 'integer', default: 5 },
      size: { enum: ['small', 'large'] },
      genre: { type: 'string', enum: genres },
      tags: { type: 'array', items: { type: 'string' } }
    },
    required: ['title']
  },
  outputSchema: {
    type: 'object',
    properties: { hits: { type: 'array', items: { type: 'string' } } },
    required: ['hits']
  },
  run (args) {
    same<typeof args.title, string>(true)
    same<typeof args.year, number | undefined>(true)
    same<typeof args.limit, number>(true)
    same<typeof args.size, 'small' | 'large' | undefined>(true)
    same<typeof args.genre, string | undefined>(true)
    // @ts-expect-error: no such argument
    String(args.nothing)
    const hits: readonly string[] = genres
    return { hits }
  }
})

export const wrongOutput = defineTool({
  name: 'wrong_output',
  outputSchema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
  // @ts-expect-error: the output schema requires a number
  run: () => ({ total: 'many' })
})

export const byHand = defineTool({
  name: 'by_hand',
  outputSchema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
  run: () => toolResult({ structuredContent: { total: 1 } })
})

export const typebox = defineTool({
  name: 'typebox',
  inputSchema: Type.Object({ title: Type.String(), year: Type.Optional(Type.Integer()) }),
  run (args) {
    same<typeof args.title, string>(true)
    same<typeof args.year, number | undefined>(true)
    // @ts-expect-error: no such argument
    String(args.nothing)
  }
})

export const zod = defineTool({
  name: 'zod',
  inputSchema: z.object({ title: z.string(), limit: z.number().default(5) }),
  run (args) {
    same<typeof args, { title: string, limit: number }>(true)
  }
})

export const valibot = defineTool({
  name: 'valibot',
  inputSchema: toStandardJsonSchema(v.object({ title: v.string(), year: v.optional(v.number()) })),
  run (args) {
    same<typeof args.title, string>(true)
    same<typeof args.year, number | undefined>(true)
  }
})

export const arktype = defineTool({
  name: 'arktype',
  inputSchema: type({ title: 'string', 'year?': 'number' }),
  run (args) {
    same<typeof args.title, string>(true)
    same<typeof args.year, number | undefined>(true)
  }
})

export const noSchema = defineTool({
  name: 'no_schema',
  run (args) {
    same<typeof args, Record<string, unknown>>(true)
  }
})

export const completing = definePrompt({
  name: 'completing',
  arguments: [
    { name: 'text', required: true, complete: (typed) => [typed.toUpperCase()] },
    {
      name: 'tone',
      async complete (typed, { arguments: { text }, principal, signal }) {
        same<typeof typed, string>(true)
        same<typeof text, string | undefined>(true)
        same<typeof principal, Principal>(true)
        same<typeof signal, AbortSignal>(true)
        return { values: [typed] }
      }
    },
    { name: 'length', required: true, complete: ['short', 'long'] }
  ],
  render (args) {
    same<typeof args.text, string>(true)
    same<typeof args.tone, string | undefined>(true)
    same<typeof args.length, string>(true)
    return args.text
  }
})

export const wrongCompletion = definePrompt({
  name: 'wrong_completion',
  // @ts-expect-error: suggestions are strings
  arguments: [{ name: 'text', complete: (typed) => [typed.length] }],
  render: () => ''
})

export const prompt = definePrompt({
  name: 'prompt',
  arguments: [{ name: 'text', required: true }, { name: 'tone' }],
  render (args) {
    same<typeof args.text, string>(true)
    same<typeof args.tone, string | undefined>(true)
    // @ts-expect-error: no such argument
    return `${args.nothing}`
  }
})

export const template = defineResourceTemplate({
  uriTemplate: 'shop://{shop}/orders{/path*}{?status,page}',
  name: 'orders',
  read (variables) {
    same<typeof variables.shop, string>(true)
    same<typeof variables.status, string | undefined>(true)
    same<typeof variables.path, readonly string[] | undefined>(true)
    // @ts-expect-error: no such variable
    String(variables.nothing)
    return ''
  }
})

export const asking = defineTool({
  name: 'asking',
  async run (args, ctx) {
    same<Awaited<ReturnType<typeof loadTotal>>, number>(true)
    await loadTotal(ctx)
    const { size, said } = await ctx.ask({
      size: elicit.form({
        message: 'Which size?',
        schema: {
          type: 'object',
          properties: { size: { type: 'integer', default: 42 }, note: { type: 'string' } },
          required: ['note']
        }
      }),
      said: sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }], maxTokens: 10 })
    })
    if (size.action !== 'accept') return 'no'
    same<typeof size.content.note, string>(true)
    // A user may leave out a field with a default.
    same<typeof size.content.size, number | undefined>(true)
    const [first] = [said.content].flat()
    return first?.type === 'tool_use' ? first.name : 'words'
  }
})

export const authorizing = defineTool({
  name: 'authorizing',
  scopes: ['orders:read'],
  whenMissing: 'challenge',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  async authorize (principal, args, ctx) {
    same<typeof principal, Principal>(true)
    same<typeof args.id, string>(true)
    same<typeof ctx, Context>(true)
    return principal.claims?.tenant === args.id || 'There is no such order.'
  },
  run (args) {
    same<typeof args.id, string>(true)
  }
})

export const wrongAuthorizing = defineTool({
  name: 'wrong_authorizing',
  // @ts-expect-error: a number is no decision
  authorize: () => 5,
  run: () => ''
})

// @ts-expect-error: no such answer to a missing scope
export const wrongWhenMissing = definePrompt({ name: 'p', scopes: [], whenMissing: 'ask', render: () => '' })

export const listing = defineResourceTemplate({
  uriTemplate: 'note://{id}',
  name: 'notes',
  timeoutMs: 5000,
  listTtlMs: 60_000,
  async list ({ signal }) {
    same<typeof signal, AbortSignal>(true)
    return [{ name: 'one', variables: { id: '1' }, scopes: ['notes:read'], whenMissing: 'challenge' }]
  },
  async read (_, ctx) {
    ctx.notify.listChanged('resources')
    // @ts-expect-error: the list of tools changes with the catalog's files
    ctx.notify.listChanged('tools')
    same<typeof ctx.meta.traceparent, unknown>(true)
    const [first] = await ctx.readResource('note://2')
    const block: ContentBlock = await ctx.embedResource('note://2')
    const blocks: ContentBlock[] = [block, ctx.linkResource('note://2')]
    return { contents: first === undefined ? [] : [first], _meta: { 'example.com/blocks': blocks.length } }
  }
})

export const prefixed = defineResourceTemplate({
  uriTemplate: 'user://{id:1}/{id}{?since:4}',
  name: 'users',
  read ({ id, since }) {
    same<typeof id, string>(true)
    same<typeof since, string | undefined>(true)
    return id
  }
})

async function loadTotal (ctx: Context) {
  same<Awaited<ReturnType<typeof traceText>>, string>(true)
  await traceText(ctx)
  return await ctx.span('load the total', async () => 1)
}

const traceText = (ctx: Context) => ctx.span('make a text', () => 'text')

// @ts-expect-error: a span has a name
export const nameless = (ctx: Context) => ctx.span(() => 1)

const settings = defineSettings({
  DATABASE_URL: { type: 'string', format: 'uri', secret: true },
  PAGE_SIZE: { type: 'integer', minimum: 1, default: 20 },
  RATE: { type: 'number', optional: true },
  IS_ON: { type: 'boolean' },
  MODE: { enum: ['fast', 'slow'] }
})

export const wrongSetting = defineSettings({
  // @ts-expect-error: no such type
  A: { type: 'array' },
  // @ts-expect-error: no such option
  B: { type: 'string', requierd: true }
})

class Pool {
  readonly url: string
  constructor (url: string) { this.url = url }
  async end (): Promise<void> {}
}

const database = defineDependency({
  name: 'database',
  settings,
  open: async ({ settings, log, signal }) => {
    same<typeof settings.DATABASE_URL, string>(true)
    same<typeof settings.PAGE_SIZE, number>(true)
    log.info('opening')
    signal.throwIfAborted()
    return new Pool(settings.DATABASE_URL)
  },
  close: async (pool) => await pool.end(),
  check (pool, { signal }) {
    same<typeof pool, Pool>(true)
    same<typeof signal, AbortSignal>(true)
  }
})

export const bare = defineDependency({
  name: 'bare',
  open: ({ settings }) => {
    // @ts-expect-error: there are no settings
    String(settings.PAGE_SIZE)
    return 1
  }
})

const crm = defineUpstream({
  name: 'crm',
  settings,
  url (values) {
    same<typeof values.DATABASE_URL, string>(true)
    return values.DATABASE_URL
  },
  auth: { type: 'basic', user: 'u', password: ({ DATABASE_URL }) => DATABASE_URL },
  retry: false
})

export const wrong = defineUpstream({
  name: 'wrong',
  url: 'https://x/',
  // @ts-expect-error: a secret has a value
  auth: { type: 'secret', header: 'x-key' }
})

export const calling = defineTool({
  name: 'calling',
  upstreams: [crm],
  async run (_, ctx) {
    const answer = await ctx.fetch(crm, 'x', { json: { a: 1 }, method: 'POST', query: { q: 1 } })
    same<typeof answer, Response>(true)
    // @ts-expect-error: a dependency is no upstream
    await ctx.fetch(database, 'x')
    // @ts-expect-error: an upstream is no dependency
    ctx.use(crm)
    return answer.statusText
  }
})

export const using = defineTool({
  name: 'using',
  run (_, ctx) {
    const values = ctx.settings(settings)
    same<typeof values.RATE, number | undefined>(true)
    same<typeof values.IS_ON, boolean>(true)
    same<typeof values.MODE, 'fast' | 'slow'>(true)
    // @ts-expect-error: no such setting
    String(values.NOTHING)
    const [size, pool] = [ctx.use(bare), ctx.use(database)]
    same<typeof size, number>(true)
    same<typeof pool, Pool>(true)
    return [values.MODE, size, pool.url]
  }
})

export const shops: CompletionFunction = (typed, ctx) => {
  return [typed, ctx.use(database).url, ctx.settings(settings).MODE]
}
