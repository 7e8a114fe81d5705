// Both eras: a request has the same answer and the same lines in the log.

import t, { type Test } from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog, type ReadableLog } from '../../helpers/log.ts'
import { toPost, type Message } from '../../helpers/request.ts'
import { openSession, type SessionClient } from '../../helpers/session.ts'
import { post } from '../../helpers/stream.ts'
import { call, endlessCalls, FILES, SCENARIOS } from './era-scenarios.ts'

/** Logged once at the start: these services have no secret. */
const EPHEMERAL =
  'TRIVET_SECRETS is not set: sessions, questions to clients, tasks, and links to files are lost when ' +
  'this process ends'

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
  const session = await openSession(t, url, { capabilities: {} })
  return { url, log, session, close: async () => await app.close() }
}

/** The answer of a request, and the lines that it adds to the log. */
async function watchLog (
  { lines }: ReadableLog, serve: () => Promise<Message>
): Promise<{ answer: Message, otherLines: Message[], line: Message }> {
  const before = lines.length
  const answer = await serve()
  await until(() => lines.slice(before).some(({ msg }) => msg === 'request'), 'the line of the request')
  const added = lines.slice(before)
  return {
    answer,
    otherLines: added.filter(({ msg }) => msg !== 'request'),
    line: added.find(({ msg }) => msg === 'request')
  }
}

t.test('has the same answer and the same log lines in both eras', async (t) => {
  const { url, log, session } = await serve(t)

  for (const { claim, request, answer, code, name, otherLine } of SCENARIOS) {
    t.test(claim, async (t) => {
      for (const era of ['modern', 'legacy'] as const) {
        const ask = era === 'modern'
          ? async () => (await post(t, url, request)).response
          : async () => (await session.request(request.method, request.params)).response
        const seen = await watchLog(log, ask)
        t.match(seen.answer, answer, `the answer: ${era}`)
        t.equal(seen.answer.error?.code, code?.[era])
        const method = request.method === 'no/method' ? undefined : request.method
        t.equal(seen.line.method, method, 'the log line')
        t.equal(seen.line.name, name)
        // The log has the modern code of an error, also for revisions with another code.
        t.equal(seen.line.code, code?.modern)
        t.notOk('cancelled' in seen.line)
        t.equal(seen.otherLines.length, otherLine === undefined ? 0 : 1)
        if (otherLine !== undefined) {
          const { level, msg, err } = otherLine
          t.match(seen.otherLines, [
            { level, msg, err: { message: new RegExp(err) }, reqId: seen.line.reqId }
          ])
        }
        t.notMatch(JSON.stringify(seen.answer), 'secret')
      }
    })
  }

  t.test('a capability that the client has not declared', async (t) => {
    const request = call('needs_sampling')
    const modern = await post(t, url, request)
    t.match(modern.response, { error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } } })
    // Earlier revisions have no error for a missing capability: a result tells the model.
    const legacy = await session.request(request.method, request.params)
    t.match(legacy.result, { isError: true, content: [{ text: /lacks sampling/ }] })
  })
})

t.test('a request that the shutdown stops is not logged as an error, in either era', async (t) => {
  const { url, log, session, close } = await serve(t, { shutdownTimeoutMs: 100 })
  const before = endlessCalls()
  const modern = post(t, url, call('never_ends'))
  const legacy = session.call('never_ends')
  await until(() => endlessCalls() === before + 2, 'both calls')
  const closed = close()
  for (const answer of [await modern, await legacy]) {
    t.match(answer.response, { error: { code: -32603, message: 'The request was cancelled' } })
  }
  await closed
  t.strictSame(log.lines.filter(({ level, msg }) => level >= 40 && msg !== EPHEMERAL), [])
  t.equal(log.lines.filter(({ msg, name }) => msg === 'request' && name === 'never_ends').length, 2)
})

t.test('a request that the client cancels is logged as cancelled, in either era', async (t) => {
  const { url, log, session } = await serve(t)
  const before = endlessCalls()
  const gone = new AbortController()
  const lineOf = () => log.lines.filter(({ msg, name }) => msg === 'request' && name === 'never_ends')
  const { headers, body } = toPost(call('never_ends'))
  const modern = fetch(url, { method: 'POST', headers, body, signal: gone.signal })
  modern.catch(() => {})
  await until(() => endlessCalls() === before + 1, 'the modern call')
  gone.abort()
  await until(() => lineOf().length === 1, 'the line of the modern request')
  const legacy = session.startCall('never_ends', {}, { id: 'x' })
  await until(() => endlessCalls() === before + 2, 'the call of the session')
  await session.notify('notifications/cancelled', { requestId: 'x' })
  await legacy
  await until(() => lineOf().length === 2, 'the line of the session\'s request')
  for (const line of lineOf()) t.equal(line.outcome, 'cancelled')
  t.strictSame(log.lines.filter(({ level, msg }) => level >= 40 && msg !== EPHEMERAL), [])
})
