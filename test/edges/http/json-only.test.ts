// Clients that take JSON alone: they get the answers without the notifications before these.

import t, { type Test } from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { askingModule } from '../../helpers/asking-module.ts'
import { send } from '../../helpers/request.ts'
import { LEGACY_REVISIONS, openSession, SessionClient, type SessionReply } from '../../helpers/session.ts'
import { post } from '../../helpers/stream.ts'

const FILES = {
  'tools/all.ts': askingModule(`
      define('speaks', async (_, ctx) => {
        ctx.progress(1)
        ctx.log.error('told')
        await pause(10)
        ctx.progress(2)
        return 'ok'
      }),
      define('lasts', async () => {
        await pause(1300)
        return 'ok'
      }),
      define('parts', async (_, ctx) => {
        ctx.disconnectLegacyClient()
        return 'ok'
      }),
      define('hangs', async (_, ctx) => await new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
      }))`)
}
const JSON_ONLY = { accept: 'application/json' }
const TYPE = /^application\/json/
const LOGGED = { 'io.modelcontextprotocol/logLevel': 'debug', progressToken: 1 }

const textOf = ({ result }: SessionReply): string => result.content[0].text

t.test('a call is answered with JSON, without its progress and its log (14, 18)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const call = (name: string) => ({ method: 'tools/call', params: { name }, meta: LOGGED })
  for (const accept of [
    'application/json', 'application/json;q=, text/plain', 'application/json, application/json;q=0',
    '*/*;q=0.1, text/event-stream;q=0', 'application/*'
  ]) {
    const { status, headers, messages } = await post(t, url, { ...call('speaks'), headers: { accept } })
    t.equal(status, 200)
    t.match(headers['content-type'], TYPE)
    t.match(messages, [{ result: { content: [{ text: 'ok' }] } }])
    t.equal(messages.length, 1)
  }
  const whole = await post(t, url, { ...call('speaks'), headers: { accept: '*/*' } })
  t.strictSame(whole.messages.map(({ method }) => method), [
    'notifications/progress', 'notifications/message', 'notifications/progress', undefined
  ])
  const form = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
  const asked = await post(t, url, { ...call('ask'), meta: { ...LOGGED, ...form }, headers: JSON_ONLY })
  t.equal(asked.response.result.resultType, 'input_required', 'a question needs no stream')
})

t.test('what must stream is HTTP 406 (14, 169)', async (t) => {
  const app = await buildApp(t, FILES)
  const listening = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }
  t.match(await send(app, { ...listening, headers: JSON_ONLY }), {
    status: 406, response: { error: { code: -32600, message: /Accept must list/ } }
  })
})

async function open (t: Test, url: string, revision: string): Promise<SessionClient> {
  return await openSession(t, url, { revision, headers: JSON_ONLY })
}

for (const revision of LEGACY_REVISIONS) {
  t.test(`a session of ${revision} gets JSON alone (330, 331)`, async (t) => {
    const url = await listen(await buildApp(t, FILES))
    const session = await open(t, url, revision)
    t.equal(session.initialized.protocolVersion, revision)
    for (const name of ['speaks', 'lasts', 'parts']) {
      const reply = await session.call(name, {}, { meta: { progressToken: 'p' } })
      t.match(reply.headers['content-type'], TYPE, name)
      t.strictSame([textOf(reply), reply.messages.length], ['ok', 1], name)
    }
    t.equal((await session.get()).status, 406, 'a stream of changes')
  })
}

t.test('a tool that asks says why it cannot, or asks through the model (330)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const session = await open(t, url, '2025-11-25')
  const refused = await session.call('ask')
  t.equal(refused.result.isError, true)
  t.match(textOf(refused), 'without an event stream: it needs elicitation. List text/event-stream in Accept.')
  const [, call] = /continue_call with call: "([^"]+)"/.exec(textOf(await session.call('relays'))) ?? []
  const answers = { size: { size: 'S' } }
  t.equal(textOf(await session.call('continue_call', { call, answers })), 'accept')
  const both = session.with({ headers: {} })
  const reply = await both.startCall('ask')
  await both.answer((await reply.next()).id, { action: 'decline' })
  t.equal(textOf(await reply.ended()), 'decline', 'the same session may ask when a stream is taken')
})

t.test('a cancelled call has no answer (330)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const session = await open(t, url, '2025-11-25')
  const calling = session.startCall('hangs', {}, { id: 'h' })
  // The notification may come first.
  const timer = setInterval(() => {
    session.notify('notifications/cancelled', { requestId: 'h' }).catch(() => {})
  }, 50)
  const reply = await (await calling).ended()
  clearInterval(timer)
  t.strictSame([reply.status, reply.text], [202, ''])
})

t.test('a batch is an array of answers (372)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const session = await open(t, url, '2025-03-26')
  const bodies = ['speaks', 'speaks'].map((name) => session.toRequest('tools/call', {
    name, _meta: { progressToken: name }
  }))
  const reply = await (await session.post(bodies)).ended()
  t.match(reply.headers['content-type'], TYPE)
  t.equal(JSON.parse(reply.text).length, 2)
})

t.test('a request without a session gets JSON alone (323)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const client = new SessionClient(t, url, { revision: '2025-03-26', headers: JSON_ONLY })
  const reply = await client.call('speaks', {}, { meta: { progressToken: 1 } })
  t.match(reply.headers['content-type'], TYPE)
  t.strictSame([textOf(reply), reply.messages.length], ['ok', 1])
})
