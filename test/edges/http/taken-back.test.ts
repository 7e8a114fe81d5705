// Tokens that are taken back, or lose a scope, while their client has sessions, streams, tasks and questions.
// What the token may no longer see is answered as what does not exist, to the byte.

import t, { type Test } from 'tap'
import { AuthenticationError, type Authenticator } from '../../../src/platform/access/authentication.ts'
import { createBearerAuthenticator } from '../../../src/platform/access/bearer-authenticator.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { GATES } from '../../helpers/gates.ts'
import { outcomeOf, toVisit, type Visit } from '../../helpers/outcome.ts'
import type { RequestParts } from '../../helpers/request.ts'
import { openSession, type SessionClient } from '../../helpers/session.ts'
import { openStream, post } from '../../helpers/stream.ts'
import { TASKS } from '../../features/tasks/task-client.ts'

const SCOPED = "scopes: ['books']"
const FORM = "elicit.form({ message: 'Who?', schema: { type: 'object', properties: {} } })"
const FILES = {
  'lib/gates.ts': GATES,
  'tools/open.ts': toolModule('plain', '', "() => 'ok'"),
  'tools/touch.ts': toolModule(
    'touch', "inputSchema: { type: 'object', properties: { uri: { type: 'string' } } }",
    '({ uri }, ctx) => { ctx.notify.resourceUpdated(uri) }'
  ),
  'tools/hidden.ts': `import { elicit } from 'trivet'
    import { gate } from '../lib/gates.ts'
    ${toolModule('secret', SCOPED)}
    export const asks = defineTool({
      name: 'inquire', ${SCOPED}, run: async (_, ctx) => (await ctx.ask({ a: ${FORM} })).a.action
    })
    export const works = defineTool({
      name: 'labour', ${SCOPED}, task: 'required', run: async (_, ctx) => { await ctx.sleep(60_000) }
    })
    export const repeats = defineTool({
      name: 'repeat', ${SCOPED}, dedupe: true, annotations: { idempotentHint: true }, run: () => 'first'
    })
    export const talks = defineTool({
      name: 'talker', ${SCOPED}, inputSchema: { type: 'object', properties: { gate: { type: 'string' } } },
      run: async (args, ctx) => { ctx.progress(1); await gate(args.gate).promise; return 'the end' }
    })
    export const opens = defineTool({
      name: 'opener', inputSchema: { type: 'object', properties: { gate: { type: 'string' } } },
      run: (args) => { gate(args.gate).open() }
    })`,
  'prompts/hidden.md': '---\ndescription: P.\nscopes: [books]\n---\nHidden.\n',
  'resources/open.md': '# open',
  'resources/hidden.md': '# hidden',
  'resources/hidden.md.meta.yaml': 'scopes: [books]\n'
}
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const meta = { [CAPABILITIES]: { ...TASKS, elicitation: { form: {} } } }
/** Tokens are asked about every two seconds. A busy machine may be late. */
const END_MS = 10_000

/** Tokens by their name, each with its scopes. */
class Tokens {
  readonly scopes = new Map<string, readonly string[]>()
  readonly authenticator: Authenticator = createBearerAuthenticator([{
    maxAgeMs: 0,
    verify: async (token) => {
      const scopes = this.scopes.get(token)
      if (scopes === undefined) throw new AuthenticationError('invalid_token', 'unknown')
      return { subject: token.slice(0, 3), clientId: 'test', scopes: new Set(scopes) }
    }
  }])
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const call = (name: string, args: object = {}, more: object = {}): RequestParts => ({
  method: 'tools/call', params: { name, arguments: args, ...more }, meta
})
const task = (method: string, taskId: string): RequestParts => ({
  method, params: { taskId, ...method === 'tasks/update' && { inputResponses: {} } }, meta
})
const subscription = (uri: string, taskIds: readonly string[]): RequestParts => ({
  method: 'subscriptions/listen',
  params: { notifications: { toolsListChanged: true, resourceSubscriptions: [uri], taskIds } },
  meta
})

/** What ada has when her token changes. */
async function begin (t: Test) {
  const tokens = new Tokens()
  tokens.scopes.set('ada', ['books'])
  const { authenticator } = tokens
  const app = await buildApp(t, FILES, { authenticator, shutdownTimeoutMs: 100, watch: 'on' })
  const url = await listen(app)
  const asAda = async (parts: RequestParts) => {
    return (await post(t, url, { ...parts, headers: bearer('ada') })).response
  }
  const { taskId } = (await asAda(call('labour'))).result
  const { requestState } = (await asAda(call('inquire'))).result
  const key = { 'idempotency-key': 'k' }
  await post(t, url, { ...call('repeat'), headers: { ...bearer('ada'), ...key } })
  const session = await openSession(t, url, { headers: bearer('ada') })
  await session.request('resources/subscribe', { uri: 'file:///hidden.md' })
  const running = await session.startCall('talker', { gate: 'a' }, { meta: { progressToken: 'p' } })
  await running.next()
  return { tokens, app, url, taskId, requestState, key, session, running, asAda }
}

const SESSION_HEADERS = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  'mcp-protocol-version': '2025-11-25'
}

/** A request of a session, as an HTTP request. */
function inSession (
  { token = '' }: SessionClient, method: Visit['method'], message?: object, headers: Visit['headers'] = {}
): Visit {
  return {
    method,
    url: '/mcp',
    headers: { ...SESSION_HEADERS, 'mcp-session-id': token, ...headers },
    ...message !== undefined && { payload: JSON.stringify({ jsonrpc: '2.0', ...message }) }
  }
}

t.test('to a token that was taken back nothing exists, and it changes nothing', async (t) => {
  const { tokens, app, url, taskId, requestState, key, session, running, asAda } = await begin(t)
  const streams = [
    await openStream(t, url, { ...subscription('file:///hidden.md', [taskId]), headers: bearer('ada') }),
    await session.get(),
    await session.get({ 'last-event-id': running.lastEventId })
  ]
  for (const { status } of streams) t.equal(status, 200)
  tokens.scopes.delete('ada')

  const visits: Visit[] = [
    ...['server/discover', 'tools/list', 'prompts/list', 'resources/list', 'skills/list', 'none'].map(
      (method) => toVisit({ method, meta })
    ),
    ...['plain', 'secret', 'none'].map((name) => toVisit(call(name))),
    toVisit(call('inquire', {}, { inputResponses: { a: { action: 'accept', content: {} } }, requestState })),
    toVisit({ ...call('repeat'), headers: key }),
    toVisit({ method: 'prompts/get', params: { name: 'hidden' } }),
    toVisit({ method: 'resources/read', params: { uri: 'file:///hidden.md' } }),
    toVisit(subscription('file:///hidden.md', [taskId])),
    ...['tasks/get', 'tasks/update', 'tasks/cancel'].map((method) => toVisit(task(method, taskId))),
    inSession(session, 'POST', { id: 1, method: 'tools/list' }),
    inSession(session, 'POST', { id: 1, method: 'tools/call', params: { name: 'secret' } }),
    inSession(session, 'POST', { method: 'notifications/cancelled', params: { requestId: 3 } }),
    inSession(session, 'POST', { id: 'question', result: { action: 'accept' } }),
    inSession(session, 'POST', { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } }),
    inSession(session, 'GET'),
    inSession(session, 'GET', undefined, { 'last-event-id': running.lastEventId }),
    inSession(session, 'DELETE')
  ]
  for (const visit of visits) {
    const as = async (token: string) => {
      return await outcomeOf(app, { ...visit, headers: { ...visit.headers, ...bearer(token) } })
    }
    const answer = await as('ada')
    t.match(answer, /^401\n/)
    t.equal(answer, await as('eve'), `${visit.method} ${String(visit.payload)}`)
  }

  const [listening, ...others] = await Promise.all(streams.map(async (stream) => await stream.ended(END_MS)))
  t.match(listening?.messages.at(-1), { id: 1, result: {} }, 'the last message is the result')
  t.equal(listening?.messages.length, 3, 'after the acknowledgement and the state of the task')
  for (const { messages } of others) t.strictSame(messages, [])

  tokens.scopes.set('ada', ['books'])
  t.equal((await asAda(task('tasks/get', taskId))).result.status, 'working', 'the task was not cancelled')
  t.equal((await session.request('tools/list')).status, 200, 'the session has not ended')
  await session.call('opener', { gate: 'a' })
  const { response } = await running.ended()
  t.match(response, { result: { content: [{ text: 'the end' }] } }, 'nor has the call')
})

t.test('to a token that has lost a scope what needs it does not exist, also where it is open', async (t) => {
  const { tokens, app, url, taskId, requestState, key, session, running } = await begin(t)
  const streams = [
    await openStream(t, url, { ...subscription('file:///hidden.md', [taskId]), headers: bearer('ada') }),
    await session.get(),
    await session.get({ 'last-event-id': running.lastEventId })
  ]
  for (const { status } of streams) t.equal(status, 200)
  const unknownTask = `task_${'A'.repeat(22)}`
  const answers = { inputResponses: { a: { action: 'accept', content: {} } }, requestState }
  const unknownEvent = running.lastEventId.replace(/^c\.[^.]+/, `c.${'A'.repeat(16)}`)
  const inSessionOf = (method: string, params: object) => {
    return inSession(session, 'POST', { id: 1, method, params })
  }
  /** Each with another one that names what does not exist, and both names. */
  const pairs: ReadonlyArray<readonly [Visit, Visit, string, string]> = [
    ...[{}, answers].flatMap((more) => ['secret', 'inquire', 'labour', 'repeat', 'talker'].map((name) => {
      const unknown = 'x'.repeat(name.length)
      return [toVisit(call(name, {}, more)), toVisit(call(unknown, {}, more)), name, unknown] as const
    })),
    [
      toVisit({ ...call('repeat'), headers: key }), toVisit({ ...call('xxxxxx'), headers: key }), 'repeat',
      'xxxxxx'
    ],
    ...['tasks/get', 'tasks/update', 'tasks/cancel'].map((method) => [
      toVisit(task(method, taskId)), toVisit(task(method, unknownTask)), taskId, unknownTask
    ] as const),
    ...['prompts/get', 'completion/complete'].map((method) => {
      const params = (name: string) => method === 'prompts/get'
        ? { name }
        : { ref: { type: 'ref/prompt', name }, argument: { name: 'a', value: '' } }
      const visit = (name: string) => toVisit({ method, params: params(name) })
      return [visit('hidden'), visit('xxxxxx'), 'hidden', 'xxxxxx'] as const
    }),
    ...['resources/read', 'resources/directory/read', 'skills/get'].map((method) => {
      const visit = (name: string) => toVisit({ method, params: { uri: `file:///${name}.md` } })
      return [visit('hidden'), visit('xxxxxx'), 'hidden', 'xxxxxx'] as const
    }),
    ...[['tools/call', 'secret'], ['prompts/get', 'hidden']].map(([method = '', name = '']) => [
      inSessionOf(method, { name }), inSessionOf(method, { name: 'xxxxxx' }), name, 'xxxxxx'
    ] as const),
    ...['resources/read', 'resources/subscribe', 'resources/unsubscribe'].map((method) => [
      inSessionOf(method, { uri: 'file:///hidden.md' }), inSessionOf(method, { uri: 'file:///xxxxxx.md' }),
      'hidden', 'xxxxxx'
    ] as const),
    [
      inSession(session, 'GET', undefined, { 'last-event-id': running.lastEventId }),
      inSession(session, 'GET', undefined, { 'last-event-id': unknownEvent }),
      running.lastEventId,
      unknownEvent
    ]
  ]
  const compare = async ([visit, unknownVisit, ...names]: typeof pairs[number]) => {
    const [answer, expected] = await Promise.all([visit, unknownVisit].map(async (one) => {
      return await outcomeOf(app, { ...one, headers: { ...one.headers, ...bearer('ada') } }, names)
    }))
    return { answer, expected, what: `${visit.method} ${String(visit.payload)}` }
  }
  // These change nothing, and end.
  const harmless = /"secret"|prompts\/get|resources\/read|tasks\/get/
  for (const pair of pairs.filter(([{ payload }]) => harmless.test(String(payload)))) {
    const { answer, expected, what } = await compare(pair)
    t.not(answer, expected, `with the scope: ${what}`)
  }
  tokens.scopes.set('ada', [])
  for (const pair of pairs) {
    const { answer, expected, what } = await compare(pair)
    t.equal(answer, expected, what)
  }

  const [listening, ...others] = await Promise.all(streams.map(async (stream) => await stream.ended(END_MS)))
  t.match(listening?.messages.at(-1), { id: 1, result: {} })
  for (const { messages } of others) t.strictSame(messages, [])

  const weak = { headers: bearer('ada') }
  const again = await openStream(t, url, { ...subscription('file:///hidden.md', [taskId]), ...weak })
  const unknown = await openStream(t, url, { ...subscription('file:///xxxxxx.md', [unknownTask]), ...weak })
  // A template has all files, so that both are acknowledged.
  const mask = (message: unknown) => JSON.stringify(message).replaceAll(/hidden|x{6}/g, '*')
  t.equal(mask(await again.next()), mask(await unknown.next()), 'a new subscription tells neither')
  const changes = await session.get()
  const publicOnly = await openStream(t, url, { ...subscription('file:///open.md', []), ...weak })
  await publicOnly.next()
  for (const uri of ['file:///hidden.md', 'file:///open.md']) {
    await post(t, url, { ...call('touch', { uri }), ...weak })
  }
  t.match(await publicOnly.next(), { params: { uri: 'file:///open.md' } })
  t.strictSame([again.messages.length, changes.messages], [1, []], 'nor does a stream hear of the resource')
})
