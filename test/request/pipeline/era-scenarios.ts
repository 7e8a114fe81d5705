// Requests with the same behaviour in both eras, and the catalog that they need.

/** How many calls of `never_ends` have begun in this process. */
export const endlessCalls = (): number => Reflect.get(globalThis, 'endlessCalls') ?? 0

export const FILES = {
  'tools/all.ts': `
    import { defineTool, ToolError } from 'trivet'
    const define = (name, run, options = {}) => defineTool({ name, description: 'A tool.', ...options, run })
    const never = () => new Promise(() => {})
    const number = { type: 'object', properties: { n: { type: 'number' } } }
    const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    export default [
      define('echo', ({ text }) => text, { inputSchema: text }),
      define('waits', async () => { await new Promise((resolve) => setTimeout(resolve, 20)); return 'done' }),
      define('refuses', () => { throw new ToolError('No such book.') }),
      define('refuses_later', async () => {
        throw new ToolError('No such book.', { cause: new Error('the cause') })
      }),
      define('breaks', () => { throw new Error('secret of a tool') }),
      define('breaks_later', async () => { throw new Error('secret of a tool') }),
      define('returns_wrong', () => ({ n: 'one' }), { outputSchema: number }),
      define('takes_too_long', never, { timeoutMs: 30 }),
      define('needs_sampling', () => 'ok', { requiredCapabilities: { sampling: {} } }),
      define('never_ends', () => {
        globalThis.endlessCalls = (globalThis.endlessCalls ?? 0) + 1
        return never()
      })
    ]`,
  'prompts/all.ts': `
    import { definePrompt, ToolError } from 'trivet'
    const tone = { name: 'tone', required: true }
    const define = (name, render) => definePrompt({ name, arguments: [tone], render })
    export default [
      define('greets', ({ tone }) => 'Hello, ' + tone),
      define('refuses', () => { throw new ToolError('Not today.') }),
      define('breaks', () => { throw new Error('secret of a prompt') })
    ]`,
  'resources/all.resource.ts': `
    import { defineResourceTemplate } from 'trivet'
    export default defineResourceTemplate({
      uriTemplate: 'book://{id}',
      name: 'book',
      complete: { id: ['one', 'two'] },
      read: ({ id }) => {
        if (id === 'broken') throw new Error('secret of a resource')
        return id === 'none' ? undefined : 'A book.'
      }
    })`
}

export const call = (name: string, args: object = {}) => ({
  method: 'tools/call', params: { name, arguments: args }
})
const prompt = (name: string, args: object = { tone: 'dry' }) => ({
  method: 'prompts/get', params: { name, arguments: args }
})
const read = (uri: string) => ({ method: 'resources/read', params: { uri } })
const complete = (name: string) => ({
  method: 'completion/complete',
  params: { ref: { type: 'ref/resource', uri: 'book://{id}' }, argument: { name, value: '' } }
})

interface Scenario {
  readonly claim: string
  readonly request: { readonly method: string, readonly params?: { readonly [key: string]: unknown } }
  /** The answer in both eras. The code of an error may differ between them. */
  readonly answer: object
  readonly code?: { readonly modern: number, readonly legacy: number }
  /** The subject in the log. */
  readonly name?: string
  /** The log's other line, besides the line of the request. */
  readonly otherLine?: { readonly level: number, readonly msg: string, readonly err: string }
}

const error = (message: string | RegExp) => ({ error: { message } })
const both = (code: number) => ({ modern: code, legacy: code })
const failed = (err: string) => ({ level: 50, msg: 'request failed', err })

export const SCENARIOS: readonly Scenario[] = [
  { claim: 'a list', request: { method: 'tools/list' }, answer: { result: { tools: [{ name: 'breaks' }] } } },
  {
    claim: 'an invalid cursor',
    request: { method: 'tools/list', params: { cursor: '?' } },
    answer: error(/cursor/),
    code: both(-32602)
  },
  {
    claim: 'a call',
    request: call('echo', { text: 'a' }),
    answer: { result: { content: [{ text: 'a' }] } },
    name: 'echo'
  },
  {
    claim: 'a call that waits',
    request: call('waits'),
    answer: { result: { content: [{ text: 'done' }] } },
    name: 'waits'
  },
  {
    claim: 'invalid arguments',
    request: call('echo'),
    answer: { result: { isError: true } },
    name: 'echo'
  },
  {
    claim: 'a tool error',
    request: call('refuses'),
    answer: { result: { isError: true, content: [{ text: 'No such book.' }] } },
    name: 'refuses'
  },
  {
    claim: 'a tool error with a cause',
    request: call('refuses_later'),
    answer: { result: { isError: true, content: [{ text: 'No such book.' }] } },
    name: 'refuses_later',
    otherLine: { level: 40, msg: 'tool error', err: 'the cause' }
  },
  {
    claim: 'a tool that throws',
    request: call('breaks'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'breaks',
    otherLine: failed('secret of a tool')
  },
  {
    claim: 'a tool that throws later',
    request: call('breaks_later'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'breaks_later',
    otherLine: failed('secret of a tool')
  },
  {
    claim: 'a result that does not match its schema',
    request: call('returns_wrong'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'returns_wrong',
    otherLine: failed('the structured content does not match outputSchema')
  },
  {
    claim: 'a tool that takes too long',
    request: call('takes_too_long'),
    answer: { result: { isError: true, content: [{ text: /within 30 ms/ }] } },
    name: 'takes_too_long'
  },
  { claim: 'an unknown tool', request: call('none'), answer: error(/none/), code: both(-32602) },
  {
    claim: 'invalid params',
    request: { method: 'tools/call', params: {} },
    answer: error(/name/),
    code: both(-32602)
  },
  {
    claim: 'an unknown method',
    request: { method: 'no/method' },
    answer: error(/no\/method/),
    code: both(-32601)
  },
  {
    claim: 'a prompt',
    request: prompt('greets'),
    answer: { result: { messages: [{ content: { text: 'Hello, dry' } }] } },
    name: 'greets'
  },
  {
    claim: 'a prompt without its argument',
    request: prompt('greets', {}),
    answer: error(/tone/),
    code: both(-32602),
    name: 'greets'
  },
  {
    claim: 'a prompt that throws a ToolError',
    request: prompt('refuses'),
    answer: error('Not today.'),
    code: both(422),
    name: 'refuses'
  },
  {
    claim: 'a prompt that throws',
    request: prompt('breaks'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'breaks',
    otherLine: failed('secret of a prompt')
  },
  {
    claim: 'a resource',
    request: read('book://one'),
    answer: { result: { contents: [{ text: 'A book.' }] } },
    name: 'book://{id}'
  },
  {
    claim: 'a resource that `read` does not find',
    request: read('book://none'),
    answer: error(/^Resource not found: /),
    code: { modern: -32602, legacy: -32002 },
    name: 'book://{id}'
  },
  {
    claim: 'an unknown resource',
    request: read('film://one'),
    answer: error(/^Resource not found: /),
    code: { modern: -32602, legacy: -32002 }
  },
  {
    claim: 'a resource that throws',
    request: read('book://broken'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'book://{id}',
    otherLine: failed('secret of a resource')
  },
  {
    claim: 'suggestions',
    request: complete('id'),
    answer: { result: { completion: { values: ['one', 'two'] } } },
    name: 'book://{id}'
  },
  {
    claim: 'suggestions for an unknown argument',
    request: complete('title'),
    answer: error(/title/),
    code: both(-32602),
    name: 'book://{id}'
  }
]
