// Any replica continues what another replica has asked. Each request of the official client goes to the
// replica that did not receive the one before.

import { cp } from 'node:fs/promises'
import type { Client } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { connect, connectAlternating, startPair, type AlternatingClient } from '../helpers/pair.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import type { Message } from '../helpers/request.ts'
import { TRIP_FILES } from './trip-catalog.ts'

const EXAMPLE = new URL('../../catalog', import.meta.url)
const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

async function callTool (
  client: Client, name: string, args: { readonly [name: string]: unknown } = {}
): Promise<Message> {
  const result = await client.callTool({ name, arguments: args })
  if (result.isError === true) throw new Error(JSON.stringify(result.content))
  return result.structuredContent ?? JSON.parse(JSON.stringify(result.content))[0].text
}

async function fillBasket (client: Client): Promise<string> {
  const { basketId } = await callTool(client, 'create_basket')
  await callTool(client, 'add_to_basket', { basketId, bookId: 'moby-dick' })
  return basketId
}

/** Checks that these requests were one question and its retries, on alternating replicas. */
function checkRounds (
  t: Test, sent: ReturnType<ReturnType<AlternatingClient['record']>>, method: string, rounds: number
): void {
  t.strictSame(
    sent.map(({ method, isRetry }) => ({ method, isRetry })),
    Array.from({ length: rounds }, (_, round) => ({ method, isRetry: round > 0 }))
  )
  for (const [index, { to }] of sent.entries()) {
    if (index > 0) t.not(to, sent[index - 1]?.to, 'the retry went to the other replica')
  }
}

if (hasRedisServer(t)) {
  const catalog = await writeCatalog(t, TRIP_FILES)
  await cp(EXAMPLE, catalog, { recursive: true })
  const redis = await startRedisServer(t)
  const pair = await startPair(t, redis, { TRIVET_CATALOG: catalog, TRIVET_LOG_LEVEL: 'info' })

  /** The requests for a name, by the log of each replica. */
  const served = (name: string): number[] => pair.map(({ stdout }) =>
    stdout().split('\n').filter((line) => line.startsWith('{')).map(
      (line): Message => JSON.parse(line)
    ).filter((line) => line.msg === 'request' && line.name === name).length)

  t.test('a form is accepted, declined or cancelled on the replica that did not ask (66, 208, 219, ' +
    '224)', async (t) => {
    const { client, record } = await connectAlternating(t, pair, EVERYTHING)
    const asked: string[] = []
    for (const [answer, outcome] of [
      [{ action: 'decline' as const }, { ordered: false }],
      [{ action: 'cancel' as const }, { ordered: false }],
      [{ action: 'accept' as const, content: { confirm: false } }, { ordered: false }],
      [
        { action: 'accept' as const, content: { confirm: true } },
        { ordered: true, order: { number: String, totalCents: Number } }
      ]
    ] as const) {
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params.message)
        return answer
      })
      const basketId = await fillBasket(client)
      const [before, sent] = [served('checkout'), record()]
      const result = await callTool(client, 'checkout', { basketId })
      t.match(result, outcome, answer.action)
      checkRounds(t, sent(), 'tools/call', 2)
      await until(
        () => served('checkout').every((count, side) => count === (before[side] ?? 0) + 1),
        'one call in the log of each replica'
      )
      t.match(await callTool(client, 'view_basket', { basketId }), { lines: [{ quantity: 1 }] })
      t.strictSame(
        (await callTool(client, 'view_basket', { basketId })).order, result.order,
        'and the basket says the same'
      )
    }
    t.equal(asked.length, 4, 'each was asked once')
    t.ok(asked.every((message) => message.startsWith('Order 1 x Moby-Dick for ')))
  })

  t.test('questions one after the other and several at once, to the user, the model and the client; what ' +
    'is done once is done once on all replicas (208, 211, 228, 235)', async (t) => {
    const { client, record } = await connectAlternating(t, pair, EVERYTHING)
    const asked: string[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(`${params.mode} ${params.message}`)
      if (params.mode === 'url') return { action: 'accept' }
      return { action: 'accept', content: { name: params.message === 'Where to?' ? 'Cork' : '12 A' } }
    })
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      asked.push(JSON.stringify(params.messages[0]?.content))
      return { role: 'assistant', model: 'a model', content: { type: 'text', text: 'an umbrella' } }
    })
    client.setRequestHandler('roots/list', () => {
      asked.push('roots')
      return { roots: [{ uri: 'file:///home/ada', name: 'home' }] }
    })

    const diary = await callTool(client, 'open_diary')
    const sent = record()
    const { number, ...answers } = await callTool(client, 'plan_trip', { diary })
    checkRounds(t, sent(), 'tools/call', 4)
    t.strictSame(answers, {
      city: { action: 'accept', content: { name: 'Cork' } },
      terms: { action: 'accept' },
      advice: { type: 'text', text: 'an umbrella' },
      folders: [{ uri: 'file:///home/ada', name: 'home' }],
      seat: { action: 'accept', content: { name: '12 A' } }
    })
    t.strictSame(asked.toSorted(), [
      'form Where to?', `form Which seat for booking ${number}?`, 'roots', 'url Read this first',
      '{"type":"text","text":"What to pack for Cork?"}'
    ].toSorted(), 'each was asked once')

    const pids = sent().map(({ to }) => pair[to === 0 ? 0 : 1].child.pid)
    t.strictSame((await callTool(client, 'read_diary', { diary })).entries, [
      `run ${pids[0]}`, `begun ${pids[0]}`, `run ${pids[1]}`, `booked Cork ${pids[1]}`, `run ${pids[2]}`,
      `run ${pids[3]}`
    ], 'each round ran on the replica that it was sent to')

    client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }))
    t.strictSame(await callTool(client, 'plan_trip', { diary }), { city: 'decline' })
  })

  t.test('a prompt asks on one replica and is rendered on the other (208, 224)', async (t) => {
    const { client, record } = await connectAlternating(t, pair, EVERYTHING)
    for (const [answer, text] of [
      [{ action: 'accept' as const, content: { name: 'Ada' } }, 'Greet Ada'], [
        { action: 'decline' as const }, 'Greet nobody: decline'
      ], [{ action: 'cancel' as const }, 'Greet nobody: cancel']
    ] as const) {
      client.setRequestHandler('elicitation/create', () => answer)
      const sent = record()
      t.match((await client.getPrompt({ name: 'greeting' })).messages, [
        { role: 'user', content: { type: 'text', text } }
      ])
      checkRounds(t, sent(), 'prompts/get', 2)
    }
  })

  t.test('a resource asks on one replica and is read on the other (208, 224)', async (t) => {
    const { client, record } = await connectAlternating(t, pair, EVERYTHING)
    for (const [answer, text] of [
      [{ action: 'accept' as const, content: { name: 'Ada' } }, 'Ada lives here'], [
        { action: 'cancel' as const }, 'Nobody lives here'
      ]
    ] as const) {
      client.setRequestHandler('elicitation/create', () => answer)
      const sent = record()
      t.match((await client.readResource({ uri: 'door://sign' })).contents, [{ uri: 'door://sign', text }])
      checkRounds(t, sent(), 'resources/read', 2)
    }
  })

  t.test('what was read with answers is not to be kept, whatever the resource says of its cache ' +
    '(191)', async (t) => {
    const { client, record } = await connectAlternating(t, pair, EVERYTHING)
    t.match(await client.readResource({ uri: 'weather://cork' }), {
      contents: [{ text: 'rain in cork' }], ttlMs: 60_000, cacheScope: 'public'
    })
    for (const name of ['Galway', 'Sligo']) {
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name } }))
      const sent = record()
      t.match(await client.readResource({ uri: 'weather://here' }), {
        contents: [{ text: `rain in ${name}` }], ttlMs: 0, cacheScope: 'private'
      })
      checkRounds(t, sent(), 'resources/read', 2)
    }
  })

  t.test('a client that can be asked nothing is told what it lacks, by either replica (212, 213)', async (
    t
  ) => {
    const { client, record } = await connectAlternating(t, pair)
    const sent = record()
    for (let side = 0; side < 2; side++) {
      await t.rejects(client.getPrompt({ name: 'greeting' }), {
        code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } }
      })
    }
    checkRounds(t, sent().map((one, index) => ({ ...one, isRetry: index > 0 })), 'prompts/get', 2)
  })

  t.test('each of two calls that run at once, on both replicas, reports its own progress alone (237, ' +
    '238)', async (t) => {
    const { client, record } = await connectAlternating(t, pair)
    const sent = record()
    const counts = [1, 2]
    const heard = await Promise.all(counts.map(async (count) => {
      const progress: Array<readonly [number, number | undefined]> = []
      await client.callTool({ name: 'build_reading_list', arguments: { topic: 'sea', count } }, {
        onprogress: ({ progress: done, total }) => progress.push([done, total])
      })
      return progress
    }))
    t.strictSame(
      heard, counts.map((count) => Array.from({ length: count }, (_, index) => [index + 1, count]))
    )
    t.strictSame(sent().map(({ to }) => to).toSorted(), [0, 1])
  })

  t.test('a change that is made through either replica reaches the listeners on both, once (194, ' +
    '196)', async (t) => {
    const { client, record } = await connectAlternating(t, pair)
    const baskets = [await fillBasket(client), await fillBasket(client)]
    const uris = baskets.map((id) => `basket://${id}`)
    const [first = '', second = ''] = uris
    const clients = [client, await connect(t, pair[0]), await connect(t, pair[1])]
    const heard = clients.map((): string[] => [])
    for (const [index, listener] of clients.entries()) {
      listener.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        heard[index]?.push(params.uri)
      })
    }
    const sent = record()
    const subscriptions = await Promise.all(
      clients.map(async (listener) => await listener.listen({ resourceSubscriptions: uris }))
    )
    for (const { honoredFilter } of subscriptions) {
      t.strictSame(honoredFilter, { resourceSubscriptions: uris })
    }

    const expected: string[] = []
    for (const [uri, basketId] of [
      [first, baskets[0]], [first, baskets[0]], [second, baskets[1]], [first, baskets[0]],
      [second, baskets[1]]
    ]) {
      await callTool(client, 'add_to_basket', { basketId, bookId: 'moby-dick' })
      expected.push(String(uri))
      await until(() => heard.every(({ length }) => length >= expected.length), 'everyone to hear of it')
    }
    // A message that came twice would have come before this last one.
    await callTool(client, 'remove_from_basket', { basketId: baskets[1], bookId: 'moby-dick' })
    await until(
      () => heard.every((uris) => uris.filter((uri) => uri === second).length >= 3), 'the last change'
    )
    t.strictSame(heard, clients.map(() => [...expected, second]))

    const [listening, ...changes] = sent().map(({ to }) => to)
    t.ok(changes.includes(0) && changes.includes(1), 'changes were made through both')
    t.not(
      changes[0], listening,
      'the first by the client that listens, through the replica that it does not listen to'
    )
    for (const basketId of baskets) t.ok((await callTool(client, 'view_basket', { basketId })).basketId)
    await Promise.all(subscriptions.map(async (subscription) => await subscription.close()))
  })
}
