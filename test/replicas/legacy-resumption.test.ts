// Connections break. Official clients in sessions continue on another replica, and miss nothing.

import t, { type Test } from 'tap'
import { until, within } from '../helpers/deadline.ts'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import type { Message } from '../helpers/request.ts'
import { connectOfficial, type Kind, type OfficialClient } from './legacy-client.ts'
import { findByPid, servedBy, startShop, type Shop } from './legacy-shop.ts'

/**
 * From this revision on a stream begins with an event, so that clients can resume it before its first
 * message.
 */
const PRIMING = '2025-11-25'
/** Clients of this revision can resume a stream after its first message. */
const UNPRIMED = ['2024-11-05', '2025-03-26', '2025-06-18']
const GENERATIONS = [1, 2] as const
const MAX_ROUNDS = 12

if (hasRedisServer(t) && hasNginx(t)) {
  t.test('three replicas behind nginx', async (t) => {
    const shop = await startShop(t)
    for (const generation of GENERATIONS) {
      t.test(`client ${generation}.x`, async (t) => {
        const kind: Kind = { generation, revision: PRIMING }
        t.test(
          'is cut off in the middle of a call, and gets the result from another replica (347)',
          async (t) => await checkCall(t, shop, kind)
        )
        for (const revision of UNPRIMED) {
          t.test(
            `is cut off at ${revision}, and gets the result from another replica`,
            async (t) => await checkCall(t, shop, { generation, revision })
          )
        }
        t.test(
          'is cut off again before it has heard anything, and gets the result',
          async (t) => await checkTwice(t, shop, kind)
        )
        t.test(
          'has one stream for each session, also after an error that came on a stream',
          async (t) => await checkError(t, shop, kind)
        )
        t.test('is told of what changed while it was cut off', async (t) => await checkChanges(t, shop, kind))
        t.test(
          'answers a question on another replica than the one that asked',
          async (t) => await checkAnswers(t, shop, kind)
        )
      })
    }
  })
}

async function checkCall (t: Test, shop: Shop, kind: Kind): Promise<void> {
  const { call, wire } = await connectOfficial(t, shop.url, kind)
  await until(() => wire.standalone !== undefined, 'the stream')
  const took: number[] = []
  let elsewhere = 0
  for (let round = 0; round < MAX_ROUNDS && elsewhere < 3; round++) {
    const before = shop.replicas.map((replica) => servedBy(replica, 'GET'))
    const seen: number[] = []
    const result = call('work', { steps: 10, stepMs: 50 }, ({ progress }) => seen.push(progress))
    await until(() => seen.length >= 3, 'progress')
    const gone = wire.last('tools/call')
    gone?.cut()
    const cutAt = performance.now()
    const [pid, steps] = (await within(result, 'the result', 10_000)).content[0].text.split(' ')
    took.push(Math.round(performance.now() - cutAt))
    t.equal(steps, '10')
    t.strictSame(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'and the rest of the progress, once')
    // The standalone stream is logged when it ends, so this line is that of the resumed stream.
    const resumedBy = () => shop.replicas.findIndex(
      (replica, index) => servedBy(replica, 'GET') > (before[index] ?? 0)
    )
    await until(() => resumedBy() >= 0, 'the log')
    if (resumedBy() !== findByPid(shop.replicas, pid)) elsewhere++
  }
  t.ok(elsewhere >= 3, 'on another replica, by the logs')
  t.equal(wire.count('initialize'), 1)
  t.comment(
    `${took.length} calls of 500 ms were cut at 150 ms; ${elsewhere} were resumed on another replica; ` +
      `results ${took.join(', ')} ms after the cut`
  )
}

async function checkTwice (t: Test, shop: Shop, kind: Kind): Promise<void> {
  const { call, wire } = await connectOfficial(t, shop.url, kind)
  await until(() => wire.standalone !== undefined, 'the stream')
  // The tool prepares for a second, and then sends nothing.
  const result = call('work', { steps: 1, stepMs: 3000 })
  const isOpen = (method: string) => wire.last(method)?.status === 200
  await until(() => isOpen('tools/call'), 'the stream of the call')
  const gets = wire.count('GET')
  wire.last('tools/call')?.cut()
  for (let cut = 1; cut <= 3; cut++) {
    await until(() => wire.count('GET') === gets + cut && isOpen('GET'), `resumption ${cut}`)
    if (cut < 3) wire.last('GET')?.cut()
  }
  t.match((await within(result, 'the result', 10_000)).content, [{ text: / 1$/ }])
  t.ok(
    wire.exchanges.slice(-3).every(({ lastEventId }) => lastEventId?.startsWith('c.')),
    'it asked for the rest of the call each time'
  )
}

async function checkError (t: Test, shop: Shop, kind: Kind): Promise<void> {
  const connected = await connectOfficial(t, shop.url, kind)
  const { client, wire, notifications, call } = connected
  await until(() => wire.standalone !== undefined, 'the stream')
  const { standalone } = wire
  await t.rejects(client.readResource({ uri: 'lost://atlantis' }), { message: /Resource not found/ })
  t.equal(wire.last('resources/read')?.isStream, true)
  const basketId = await createBasket(connected)
  await client.subscribeResource({ uri: `basket://${basketId}` })
  for (let change = 1; change <= 12; change++) {
    await call('add_to_basket', { basketId, bookId: 'moby-dick' })
    await until(() => notifications.length >= change, 'the notification')
    // Long enough for a client that reconnects when it should not.
    await call('work', { steps: 1, stepMs: 100 })
  }
  t.equal(wire.standalone, standalone, 'its stream is the first one')
  t.ok(
    wire.count('GET') <= 2,
    `it came back for the rest of the error at most once, and ${wire.count('GET') - 1} times it did`
  )
  t.equal(notifications.length, 12)
}

async function checkChanges (t: Test, shop: Shop, kind: Kind): Promise<void> {
  const connected = await connectOfficial(t, shop.url, kind)
  const { client, wire, call, notifications } = connected
  const basketId = await createBasket(connected)
  await until(() => wire.standalone !== undefined, 'the stream')
  await client.subscribeResource({ uri: `basket://${basketId}` })
  const took: number[] = []
  for (let round = 1; round <= 6; round++) {
    const count = notifications.length
    const { standalone } = wire
    standalone?.cut()
    const cutAt = performance.now()
    await call('add_to_basket', { basketId, bookId: 'moby-dick' })
    t.equal(wire.standalone, standalone, 'it was changed while the client was away')
    await until(() => notifications.length > count, 'the notification', 10_000)
    took.push(Math.round(performance.now() - cutAt))
    t.match(notifications.at(-1), {
      method: 'notifications/resources/updated', params: { uri: `basket://${basketId}` }
    })
    t.equal(wire.last('GET')?.lastEventId?.startsWith('s.'), true)
  }
  t.comment(`told ${took.join(', ')} ms after the cut`)
}

async function checkAnswers (t: Test, shop: Shop, kind: Kind): Promise<void> {
  const answered: Message[] = []
  const connected = await connectOfficial(t, shop.url, kind, {
    elicit: () => ({ action: 'accept', content: { confirm: false } }),
    sample (params) {
      answered.push(params)
      return { role: 'assistant', model: 'a model', content: { type: 'text', text: 'yes' } }
    }
  })
  const { call, wire } = connected
  const counts = (method: string) => shop.replicas.map((replica) => servedBy(replica, method))
  let elsewhere = 0
  for (let round = 0; round < 12; round++) {
    const [calls, posts] = [counts('tools/call'), counts('POST')]
    t.match((await within(call('ask_model', { question: 'Well?' }), 'the answer')).content, [{ text: 'yes' }])
    const grown = (method: string, before: number[]) => counts(method).findIndex(
      (count, index) => count > (before[index] ?? 0)
    )
    await until(() => grown('tools/call', calls) >= 0 && grown('POST', posts) >= 0, 'the logs')
    if (grown('tools/call', calls) !== grown('POST', posts)) elsewhere++
  }
  t.ok(elsewhere > 0)
  t.equal(answered.length, 12, 'each was asked once')
  const responses = wire.exchanges.filter(({ method }) => method === 'response')
  await until(() => responses.every(({ status }) => status !== undefined), 'the last of the receipts')
  t.strictSame(responses.map(({ status }) => status), Array.from({ length: 12 }, () => 202))
  t.comment(`${elsewhere} of 12 answers came to another replica than their call`)
}

async function createBasket ({ call }: OfficialClient): Promise<string> {
  return JSON.parse((await call('create_basket')).content[0].text).basketId
}
