// Large answers that wait for clients that do not read.

import { EventEmitter, once } from 'node:events'
import { request as openRequest, ServerResponse, type IncomingMessage } from 'node:http'
import t from 'tap'
import { replaceTime } from '../../../src/base/time.ts'
import { ANONYMOUS, type Principal } from '../../../src/platform/access/principal.ts'
import { WaitingBytes } from '../../../src/platform/limits/waiting-bytes.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { toPost } from '../../helpers/request.ts'
import { startService } from '../../helpers/service.ts'
import { openStream, post } from '../../helpers/stream.ts'

const READ = { method: 'resources/read', params: { uri: 'file:///large.txt' } }
const COUNT = 60

const replyTo = (address?: string, principal: Principal = ANONYMOUS) => ({
  raw: new ServerResponse(new EventEmitter() as IncomingMessage), request: { principal, address }
})

t.test('counts large answers until their responses close', async (t) => {
  const waiting = new WaitingBytes(100_000)
  const first = replyTo()
  t.ok(waiting.take(first, 90_000))
  t.ok(waiting.take(replyTo(), 90_000), 'the answer that passes the limit is the last')
  t.notOk(waiting.take(replyTo(), 90_000))
  t.ok(waiting.take(replyTo(), 1000), 'small answers are not counted')
  first.raw.emit('close')
  t.ok(waiting.take(replyTo(), 90_000))
})

t.test('the answers to one network have a tenth', (t) => {
  const waiting = new WaitingBytes(1_000_000)
  const first = replyTo('203.0.113.7')
  t.ok(waiting.take(first, 100_000))
  t.notOk(waiting.take(replyTo('203.0.113.7'), 70_000))
  t.ok(waiting.take(replyTo('203.0.113.7'), 1000), 'small answers are not counted')
  t.ok(waiting.take(replyTo('203.0.113.8'), 70_000), 'others have their own share')
  first.raw.emit('close')
  t.ok(waiting.take(replyTo('203.0.113.7'), 70_000))
  t.end()
})

t.test('the answers to one principal have a half', (t) => {
  const waiting = new WaitingBytes(1_000_000)
  const of = (subject: string) => replyTo('203.0.113.7', { ...ANONYMOUS, subject })
  const first = of('ada')
  t.ok(waiting.take(first, 500_000))
  t.notOk(waiting.take(of('ada'), 70_000))
  t.ok(waiting.take(of('bob'), 70_000), 'others have their own share')
  first.raw.emit('close')
  t.ok(waiting.take(of('ada'), 70_000))
  t.end()
})

t.test('answers that wait long give way, oldest first', (t) => {
  let now = 0
  t.teardown(replaceTime({ monotonic: () => now }))
  const cut: Array<string | undefined> = []
  const waiting = new WaitingBytes(1_000_000, ({ address }) => cut.push(address))
  const address = (network: number) => `203.0.113.${network}`
  const take = (network: number) => {
    const reply = replyTo(address(network))
    reply.raw.flushHeaders()
    return [waiting.take(reply, 100_000), reply] as const
  }
  const replies = Array.from({ length: 10 }, (_, network) => take(network)[1])
  now = 9999
  t.notOk(take(20)[0], 'all have waited for a short time')
  t.strictSame(cut, [])
  now = 10_000
  t.ok(take(20)[0])
  t.strictSame(cut, [address(0)])
  t.ok(replies[0]?.raw.destroyed, 'its connection is closed')
  replies[0]?.raw.emit('close')
  t.notOk(take(9)[0], 'the share of this one is used')
  t.ok(take(21)[0], 'its bytes are freed once')
  t.strictSame(cut, [address(0), address(1)])
  t.end()
})

t.test('the answers of a batch do not give way before they are sent', (t) => {
  let now = 0
  t.teardown(replaceTime({ monotonic: () => now }))
  const waiting = new WaitingBytes(100_000)
  const first = replyTo()
  t.ok(waiting.take(first, 100_000))
  now = 20_000
  t.notOk(waiting.take(replyTo(), 100_000))
  t.end()
})

t.test('many clients that ask for a large resource and do not read it', async (t) => {
  const { logger, lines } = createReadableLog('info')
  const app = await buildApp(t, {
    'resources/large.txt': 'x'.repeat(10_000_000),
    'tools/large.ts': toolModule('large', '', "() => 'x'.repeat(1_000_000)")
  }, { logger })
  const url = await listen(app)
  const { headers, body } = toPost(READ)
  const ended = () => lines.filter(({ msg, method }) => msg === 'request' && method === READ.method).length
  const before = process.memoryUsage.rss()
  const answers: IncomingMessage[] = []
  async function read (): Promise<void> {
    const request = openRequest(url, { method: 'POST', agent: false, headers })
    request.on('error', () => {})
    t.teardown(() => { request.destroy() })
    request.end(body)
    const [answer]: IncomingMessage[] = await once(request, 'response')
    if (answer !== undefined) answers.push(answer)
  }
  // The first one tells how large the others are.
  await read()
  for (let count = 1; count < COUNT; count++) read().catch(() => {})
  await until(() => ended() > 20, 'answers')
  for (let count = 0; count < 20; count++) {
    t.equal((await post(t, url, { method: 'tools/list' })).status, 200, 'small answers are sent')
  }
  const sent = ended()
  t.ok(sent >= 20 && sent <= 28, `${sent} answers of 10 MB wait, and the other calls`)
  const grown = process.memoryUsage.rss() - before
  t.ok(grown < 1_300_000_000, `${grown} bytes of memory more`)
  // Not 503, after which a load balancer may send the request again.
  t.match(await post(t, url, { method: 'tools/call', params: { name: 'large' } }), {
    status: 500, response: { error: { code: 503, message: /was served, but its answer was dropped/ } }
  }, 'an answer that was not expected to be large is dropped')

  for (const answer of answers) answer.destroy()
  await until(() => ended() > sent, 'room for large answers')
  for (const answer of answers) answer.destroy()
})

t.test('answers that nobody reads leave room in a small heap', { timeout: 120_000 }, async (t) => {
  const catalog = await writeCatalog(t, {
    'tools/large.ts': toolModule('large', '', "() => 'x'.repeat(10_000_000)"),
    'tools/small.ts': toolModule('small')
  })
  const { url, child } = await startService(t, {
    TRIVET_CATALOG: catalog, NODE_OPTIONS: '--max-old-space-size=200'
  })
  const call = (name: string) => ({ method: 'tools/call', params: { name } })
  const statuses: number[] = []
  // One after the other: each has become an answer before the next one begins.
  for (let index = 0; index < 7; index++) {
    statuses.push((await openStream(t, url, call('large'), { paused: true, deadlineMs: 20_000 })).status)
  }
  t.strictSame([...new Set(statuses)], [200])
  let begun = 0
  for (let index = 0; index < 40; index++) {
    openStream(t, url, call('large'), { paused: true, deadlineMs: 60_000 }).then(() => begun++, () => {})
  }
  for (let index = 0; index < 20; index++) {
    t.match((await post(t, url, call('small'))).response.result, { content: [{ text: 'ok' }] })
    await new Promise((resolve) => { setTimeout(resolve, 100) })
  }
  t.equal(begun, 0, 'others wait for their turn')
  t.equal(child.signalCode, null)
})
