// The service tells the client of a session when it stops waiting for the answer to a question: the client
// can close its dialog.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Message } from '../../../helpers/request.ts'
import { buildApp, listen } from '../../../helpers/app.ts'
import { LEGACY_REVISIONS, openSession, type SessionReply } from '../../../helpers/session.ts'

const FILES = {
  'tools/all.ts': `
    import { defineTool, elicit, roots, sample } from 'trivet'
    const define = (name, run) => defineTool({ name, description: 'A tool.', run })
    const schema = { type: 'object', properties: { size: { type: 'string' } } }
    const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }]
    const size = elicit.form({ message: 'Which size?', schema })
    const ask = async (ctx, request) => JSON.stringify((await ctx.ask({ a: request })).a)
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
    export default [
      define('form', async (_, ctx) => await ask(ctx, size)),
      define('sample', async (_, ctx) => await ask(ctx, sample({ messages, maxTokens: 10 }))),
      define('roots', async (_, ctx) => await ask(ctx, roots())),
      define('gives_up', async (_, ctx) => await Promise.race([
        ask(ctx, size), pause(200).then(() => 'nobody answered')
      ])),
      define('speaks', async (_, ctx) => {
        ctx.log.error('first')
        return await ask(ctx, size)
      })
    ]`
}

/** The questions and the cancellations of a reply: each cancellation names a question. */
function parted ({ messages }: SessionReply): { readonly asked: unknown[], readonly cancelled: unknown[] } {
  const isQuestion = ({ id, method }: Message) => id !== undefined && method !== undefined
  return {
    asked: messages.filter(isQuestion).map(({ id }) => id),
    cancelled: messages.filter(({ method }) => method === 'notifications/cancelled')
      .map(({ params }) => params.requestId)
  }
}

t.test('a question of each kind and revision, when its time is over (332, 334)', async (t) => {
  const url = await listen(await buildApp(t, FILES, { requestStateTtlMs: 1000 }))
  await Promise.all(LEGACY_REVISIONS.flatMap((revision) => ['form', 'sample', 'roots'].map(async (name) => {
    if (name === 'form' && revision < '2025-06-18') return
    const session = await openSession(t, url, { revision })
    const reply = await session.call(name)
    const { asked, cancelled } = parted(reply)
    t.equal(asked.length, 1)
    t.strictSame(cancelled, asked, `${name} of ${revision}`)
    t.equal(reply.result.isError, true, 'the result comes last')
  })))
})

t.test('a question whose handler goes on without it, after which an answer is refused (332)', async (t) => {
  const session = await openSession(t, await listen(await buildApp(t, FILES)))
  const reply = await session.call('gives_up')
  const { asked, cancelled } = parted(reply)
  t.strictSame(cancelled, asked)
  t.equal(reply.result.content[0].text, 'nobody answered')
  t.equal((await session.answer(asked[0], { action: 'decline' })).status, 400)
})

t.test('a question that was answered is not cancelled', async (t) => {
  const session = await openSession(t, await listen(await buildApp(t, FILES)))
  const reply = await session.startCall('gives_up')
  await session.answer((await reply.next()).id, { action: 'decline' })
  t.strictSame(parted(await reply.ended()).cancelled, [])
})

t.test('a question of a call that was cancelled, or whose session has ended (334)', async (t) => {
  const session = await openSession(t, await listen(await buildApp(t, FILES)))
  for (const name of ['form', 'speaks']) {
    const reply = await session.startCall(name, {}, { id: name })
    while (parted(reply).asked.length === 0) await reply.next()
    await session.notify('notifications/cancelled', { requestId: name })
    const { asked, cancelled } = parted(await reply.ended())
    t.strictSame(cancelled, asked, name)
  }
  const reply = await session.startCall('form')
  await reply.next()
  await session.end()
  const { asked, cancelled } = parted(await reply.ended())
  t.strictSame(cancelled, asked)
})

t.test('a question that waits at the end of a shutdown', async (t) => {
  const app = await buildApp(t, FILES, { shutdownTimeoutMs: 300 })
  const session = await openSession(t, await listen(app))
  const reply = await session.startCall('form')
  await reply.next()
  await Promise.all([app.close(), reply.ended()])
  const { asked, cancelled } = parted(reply)
  t.strictSame(cancelled, asked)
})

t.test('on the stream that was resumed (344, 347)', async (t) => {
  const session = await openSession(t, await listen(await buildApp(t, FILES, { requestStateTtlMs: 2000 })))
  const reply = await session.startCall('form')
  const { id } = await reply.next()
  reply.close()
  await pause(50)
  const [first] = reply.events
  const resumed = await session.get({ 'last-event-id': first?.id })
  const { asked, cancelled } = parted(await resumed.ended())
  t.strictSame([asked, cancelled], [[id], [id]])
})
