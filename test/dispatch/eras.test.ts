// One behaviour in both eras: what a request comes to, and what the log says of it.

import t, { type Test } from 'tap'
import { buildApp, listen } from '../helpers/app.ts'
import { until } from '../helpers/deadline.ts'
import { createReadableLog, type ReadableLog } from '../helpers/log.ts'
import { toPost, type Message } from '../helpers/request.ts'
import { openSession, type SessionClient } from '../helpers/session.ts'
import { post } from '../helpers/stream.ts'

const FILES = {
  'tools/all.ts': `
    import { defineTool, ToolError } from 'trivet'
    const define = (name, run, options = {}) => defineTool({ name, description: 'A tool.', ...options, run })
    const never = () => new Promise(() => {})
    const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    export default [
      define('echo', ({ text }) => text, { inputSchema: text }),
      define('waits', async () => { await new Promise((resolve) => setTimeout(resolve, 20)); return 'done' }),
      define('refuses', () => { throw new ToolError('No such book.') }),
      define('refuses_later', async () => { throw new ToolError('No such book.', { cause: new Error('the cause') }) }),
      define('breaks', () => { throw new Error('secret of a tool') }),
      define('breaks_later', async () => { throw new Error('secret of a tool') }),
      define('returns_wrong', () => ({ n: 'one' }), { outputSchema: { type: 'object', properties: { n: { type: 'number' } } } }),
      define('takes_too_long', never, { timeoutMs: 30 }),
      define('needs_sampling', () => 'ok', { requiredCapabilities: { sampling: {} } }),
      define('never_ends', never)
    ]`,
  'prompts/all.ts': `
    import { definePrompt, ToolError } from 'trivet'
    const define = (name, render) => definePrompt({ name, arguments: [{ name: 'tone', required: true }], render })
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
      read: ({ id }) => { if (id === 'broken') throw new Error('secret of a resource'); return id === 'none' ? undefined : 'A book.' }
    })`
}

const call = (name: string, args: object = {}) => ({
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

/** Said once, because these services have no secret. */
const EPHEMERAL =
  'TRIVET_SECRETS is not set: sessions, and questions to clients, are lost when this process ends'

interface Scenario {
  readonly claim: string
  readonly request: { readonly method: string, readonly params?: { readonly [key: string]: unknown } }
  /** What it is answered with in both eras; an error's code may differ between them. */
  readonly answer: object
  readonly code?: { readonly modern: number, readonly legacy: number }
  /** The subject in the log. */
  readonly name?: string
  /** What else the log says, beside the line of the request. */
  readonly said?: { readonly level: number, readonly msg: string, readonly err: string }
}

const error = (message: string | RegExp) => ({ error: { message } })
const both = (code: number) => ({ modern: code, legacy: code })
const failed = (err: string) => ({ level: 50, msg: 'request failed', err })

const SCENARIOS: readonly Scenario[] = [
  { claim: 'a list', request: { method: 'tools/list' }, answer: { result: { tools: [{ name: 'breaks' }] } } },
  {
    claim: 'a cursor that is none',
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
    claim: 'arguments that do not fit',
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
    said: { level: 40, msg: 'tool error', err: 'the cause' }
  },
  {
    claim: 'a tool that breaks',
    request: call('breaks'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'breaks',
    said: failed('secret of a tool')
  },
  {
    claim: 'a tool that breaks later',
    request: call('breaks_later'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'breaks_later',
    said: failed('secret of a tool')
  },
  {
    claim: 'a result that breaks its promise',
    request: call('returns_wrong'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'returns_wrong',
    said: failed('the structured content does not match outputSchema')
  },
  {
    claim: 'a tool that takes too long',
    request: call('takes_too_long'),
    answer: { result: { isError: true, content: [{ text: /within 30 ms/ }] } },
    name: 'takes_too_long'
  },
  { claim: 'a tool that there is not', request: call('none'), answer: error(/none/), code: both(-32602) },
  {
    claim: 'params that do not fit',
    request: { method: 'tools/call', params: {} },
    answer: error(/name/),
    code: both(-32602)
  },
  {
    claim: 'a method that there is not',
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
    claim: 'a prompt that refuses',
    request: prompt('refuses'),
    answer: error('Not today.'),
    code: both(422),
    name: 'refuses'
  },
  {
    claim: 'a prompt that breaks',
    request: prompt('breaks'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'breaks',
    said: failed('secret of a prompt')
  },
  {
    claim: 'a resource',
    request: read('book://one'),
    answer: { result: { contents: [{ text: 'A book.' }] } },
    name: 'book://{id}'
  },
  {
    claim: 'a resource that is none',
    request: read('book://none'),
    answer: error('Resource not found'),
    code: { modern: -32602, legacy: -32002 },
    name: 'book://{id}'
  },
  {
    claim: 'a resource that nothing names',
    request: read('film://one'),
    answer: error('Resource not found'),
    code: { modern: -32602, legacy: -32002 }
  },
  {
    claim: 'a resource that breaks',
    request: read('book://broken'),
    answer: error('Internal error'),
    code: both(-32603),
    name: 'book://{id}',
    said: failed('secret of a resource')
  },
  {
    claim: 'suggestions',
    request: complete('id'),
    answer: { result: { completion: { values: ['one', 'two'] } } },
    name: 'book://{id}'
  },
  {
    claim: 'suggestions for what there is not',
    request: complete('title'),
    answer: error(/title/),
    code: both(-32602),
    name: 'book://{id}'
  }
]

async function serve (
  t: Test, options: object = {}
): Promise<{
  readonly url: string
  readonly log: ReadableLog
  readonly session: SessionClient
  close (): Promise<void>
}> {
  const log = createReadableLog()
  const app = await buildApp(t, FILES, { logger: log.logger, ...options })
  const url = await listen(app)
  return {
    url, log, session: await openSession(t, url, { capabilities: {} }), close: async () => await app.close()
  }
}

/** What the log gains while a request is served, in one form for both eras. */
async function watchLog (
  { lines }: ReadableLog, serve: () => Promise<Message>
): Promise<{ answer: Message, said: Message[], line: Message }> {
  const before = lines.length
  const answer = await serve()
  await until(() => lines.slice(before).some(({ msg }) => msg === 'request'), 'the line of the request')
  const added = lines.slice(before)
  return {
    answer,
    said: added.filter(({ msg }) => msg !== 'request'),
    line: added.find(({ msg }) => msg === 'request')
  }
}

t.test('both eras', async (t) => {
  const { url, log, session } = await serve(t)

  for (const { claim, request, answer, code, name, said } of SCENARIOS) {
    t.test(claim, async (t) => {
      for (const era of ['modern', 'legacy'] as const) {
        const ask = era === 'modern'
          ? async () => (await post(t, url, request)).response
          : async () => (await session.request(request.method, request.params)).response
        const seen = await watchLog(log, ask)
        t.match(seen.answer, answer, `is answered alike: ${era}`)
        t.equal(seen.answer.error?.code, code?.[era])
        t.equal(
          seen.line.method, request.method === 'no/method' ? undefined : request.method, 'and logged alike'
        )
        t.equal(seen.line.name, name)
        // The log has one code for one failure, whatever a revision calls it.
        t.equal(seen.line.code, code?.modern)
        t.notOk('cancelled' in seen.line)
        t.match(seen.said, said === undefined
          ? []
          : [
              { level: said.level, msg: said.msg, err: { message: new RegExp(said.err) }, reqId: seen.line.reqId }
            ])
        t.equal(seen.said.length, said === undefined ? 0 : 1)
        t.notMatch(JSON.stringify(seen.answer), 'secret')
      }
    })
  }

  t.test('a capability that the client lacks', async (t) => {
    const request = call('needs_sampling')
    const modern = await post(t, url, request)
    t.match(modern.response, { error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } } })
    // Earlier revisions have no error for it: the model is told.
    const legacy = await session.request(request.method, request.params)
    t.match(legacy.result, { isError: true, content: [{ text: /lacks sampling/ }] })
  })
})

t.test('what the service stops when it closes is no fault in either era', async (t) => {
  const { url, log, session, close } = await serve(t, { shutdownTimeoutMs: 100 })
  const modern = post(t, url, call('never_ends'))
  const legacy = session.call('never_ends')
  await new Promise((resolve) => setTimeout(resolve, 100))
  const closed = close()
  for (const answer of [await modern, await legacy]) {
    t.match(answer.response, { error: { code: -32603, message: 'The request was cancelled' } })
  }
  await closed
  t.strictSame(log.lines.filter(({ level, msg }) => level >= 40 && msg !== EPHEMERAL), [])
  t.equal(log.lines.filter(({ msg, name }) => msg === 'request' && name === 'never_ends').length, 2)
})

t.test('what a client gives up is cancelled in the log of either era', async (t) => {
  const { url, log, session } = await serve(t)
  const gone = new AbortController()
  const lineOf = () => log.lines.filter(({ msg, name }) => msg === 'request' && name === 'never_ends')
  const { headers, body } = toPost(call('never_ends'))
  const modern = fetch(url, { method: 'POST', headers, body, signal: gone.signal })
  modern.catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, 50))
  gone.abort()
  await until(() => lineOf().length === 1, 'the line of the modern request')
  const legacy = session.startCall('never_ends', {}, { id: 'x' })
  await new Promise((resolve) => setTimeout(resolve, 50))
  await session.notify('notifications/cancelled', { requestId: 'x' })
  await legacy
  await until(() => lineOf().length === 2, 'the line of the session\'s request')
  for (const line of lineOf()) t.equal(line.cancelled, true)
  t.strictSame(log.lines.filter(({ level, msg }) => level >= 40 && msg !== EPHEMERAL), [])
})
