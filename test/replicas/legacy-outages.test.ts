// Replicas that are killed or replaced, and Redis that is restarted: the sessions of official clients go on.

import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until, within } from '../helpers/deadline.ts'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import type { Message } from '../helpers/request.ts'
import { checkTold, createBell, SLOW_MS } from './bell.ts'
import { connectOfficial, KINDS, type Kind, type OfficialClient } from './legacy-client.ts'
import { findByPid, startShop, type Shop } from './legacy-shop.ts'
import { PAUSE_MS } from './shop-client.ts'

t.setTimeout(240_000)

if (hasRedisServer(t) && hasNginx(t)) {
  t.test('three replicas behind nginx', async (t) => {
    const shop = await startShop(t)
    for (const kind of KINDS) {
      t.test(
        `client ${kind.generation}.x at ${kind.revision}: a killed replica affects only its own calls`,
        async (t) => await checkKill(t, shop, kind)
      )
    }
    t.test(
      'each replica is replaced, and no call of 16 clients fails',
      async (t) => await checkRollingRestart(t, shop)
    )
    t.test(
      'open questions are answered while their replica shuts down',
      async (t) => await checkOpenQuestions(t, shop)
    )
    t.test('Redis is restarted, and sessions go on', async (t) => await checkRedis(t, shop))
  })
}

async function checkKill (t: Test, { url, replicas }: Shop, kind: Kind): Promise<void> {
  const connected = await connectOfficial(t, url, kind)
  const { call, wire } = connected
  await until(() => wire.standalone !== undefined, 'the stream')
  const work = async (onProgress?: (progress: Message) => void): Promise<{
    pid?: string
    error?: string
    at: number
  }> => {
    try {
      return {
        pid: toPid((await call('work', { steps: 40, stepMs: 50 }, onProgress)).content[0].text),
        at: performance.now()
      }
    } catch (error) {
      return { error: String(error), at: performance.now() }
    }
  }
  // Else nginx may leave out one for a while that has just come back.
  await until(
    async () => new Set(
      await Promise.all(
        replicas.map(async () => toPid((await call('work', { steps: 1, stepMs: 1 })).content[0].text))
      )
    ).size === 3,
    'all replicas', SLOW_MS
  )
  // In turn, so that each replica has one that its client could come back to, and one that has no stream.
  const silent = replicas.map(async () => await work())
  const begun: string[] = []
  const calls = replicas.map(
    async (_, index) => await work(({ message }) => { begun[index] = toPid(message) })
  )
  await until(() => new Set(Object.values(begun)).size === calls.length, 'progress of each')
  const [pid = ''] = begun
  const killed = replicas[findByPid(replicas, pid)]
  const others = begun.filter((other) => other !== pid).toSorted()
  const killedAt = performance.now()
  await killed?.kill('SIGKILL')

  const took: number[] = []
  for (let next = 0; next < 6; next++) {
    const sent = performance.now()
    t.match((await within(call('get_book', { id: 'moby-dick' }), 'the next call')).content, [
      { text: /Melville/ }
    ])
    took.push(performance.now() - sent)
  }
  const lostAfter: number[] = []
  for (
    const [group, problem] of [
      [calls, /The replica that served this request is gone/], [silent, /502/]
    ] as const
  ) {
    const outcomes = await within(Promise.all(group), 'the outcomes', SLOW_MS)
    const lost = outcomes.filter(({ error }) => error !== undefined)
    t.match(lost, [{ error: problem }])
    t.equal(lost.length, 1)
    lostAfter.push(...lost.map(({ at }) => Math.round(at - killedAt)))
    t.strictSame(outcomes.flatMap(({ pid }) => pid ?? []).toSorted(), others, 'the others have their results')
  }
  await killed?.restart()
  await checkTold(t, connected)
  t.equal(wire.count('initialize'), 1)
  // The older client takes an error for a stream that broke, and is sent away.
  t.strictSame(
    wire.exchanges.filter(({ lastEventId }) => lastEventId?.startsWith('c.')).map(({ status }) => status),
    kind.generation === 1 ? [200, 405] : [200]
  )
  t.comment(
    '2 of 6 calls were lost. Their errors came ' +
      `${lostAfter.join(' ms (with a stream) and ')} ms (without) after the kill; ` +
      `the 6 calls after it took ${Math.round(Math.max(...took))} ms at most`
  )
}

async function checkRollingRestart (t: Test, { url, replicas }: Shop): Promise<void> {
  const kinds = [...KINDS, ...KINDS, ...KINDS, ...KINDS]
  const clients = await Promise.all(kinds.map(async (kind) => await connectOfficial(t, url, kind)))
  const [bell, ring] = await createBell(clients[0])
  // The others have received no event, so they have no id to send when they reconnect.
  const listeners = clients.filter((_, index) => kinds[index]?.revision === '2025-11-25')
  const heard = () => listeners.map(
    ({ notifications }) => notifications.filter(({ params }) => params?.uri === bell).length
  )
  for (const { follow } of clients) {
    await follow(bell)
  }
  const errors: string[] = []
  const took: number[] = []
  const over = new AbortController()
  const calling = clients.map(async ({ call, client }, index) => {
    for (let turn = index; !over.signal.aborted; turn++) {
      const sent = performance.now()
      await [
        async () => await call('search_books', { query: 'whale' }),
        async () => await call('work', { steps: 10, stepMs: 20 }, () => {}),
        async () => await call('create_basket'),
        async () => await client.listTools()
      ][turn % 4]?.().catch((error: unknown) => errors.push(String(error)))
      took.push(performance.now() - sent)
      await pause(PAUSE_MS)
    }
  })
  for (const replica of replicas) {
    const before = heard()
    t.equal(await within(replica.stop(), 'the exit', SLOW_MS), 0)
    await ring()
    await until(
      () => heard().every((count, index) => count > (before[index] ?? 0)),
      'what changed while streams were away', SLOW_MS
    )
    await replica.restart()
    const count = took.length
    await until(() => took.length > count + 100, 'a hundred calls', 30_000)
  }
  over.abort()
  await within(Promise.all(calling), 'the last answers', SLOW_MS)
  t.strictSame(errors, [])
  t.strictSame(clients.map(({ wire }) => wire.count('initialize')), clients.map(() => 1))
  await Promise.all(clients.map(async (client) => await checkTold(t, client)))
  took.sort((a, b) => a - b)
  const opened = clients.reduce((sum, { wire }) => sum + wire.count('GET'), 0)
  t.comment(
    `${took.length} calls, of which ${errors.length} failed; ` +
      `p50 ${Math.round(took[took.length >> 1] ?? NaN)} ms, longest ${Math.round(took.at(-1) ?? NaN)} ms; ` +
      `${opened - clients.length} streams opened again`
  )
}

async function checkOpenQuestions (t: Test, { url, replicas }: Shop): Promise<void> {
  const released = new AbortController()
  let asked = 0
  const answer = async () => {
    asked++
    if (!released.signal.aborted) await once(released.signal, 'abort')
    return { role: 'assistant', model: 'a model', content: { type: 'text', text: 'yes' } }
  }
  const clients = await Promise.all(
    KINDS.map(
      async (kind) => await connectOfficial(t, url, kind, {
        elicit: () => ({ action: 'cancel' }), sample: answer
      })
    )
  )
  const calls = clients.flatMap(
    ({ call }) => replicas.map(async () => await call('ask_model', { question: 'Well?' }))
  )
  await until(() => asked === calls.length, 'the questions')
  const [down] = replicas
  const exit = down?.stop()
  await until(
    async () => await fetch(down?.url ?? '').then(() => false, () => true), 'the end of its listening'
  )
  released.abort()
  const results = await within(Promise.all(calls), 'the results')
  t.strictSame(results.map(({ content }) => content[0].text), calls.map(() => 'yes'))
  t.equal(await exit, 0)
  await down?.restart()
  t.equal(asked, calls.length, 'each was asked once')
}

async function checkRedis (t: Test, { url, redis }: Shop): Promise<void> {
  const clients = await Promise.all(KINDS.map(async (kind) => await connectOfficial(t, url, kind)))
  const ids = clients.map(({ sessionId }) => sessionId)
  for (const { client } of clients) await client.setLoggingLevel('error')
  for (const connected of clients) await checkTold(t, connected)
  await redis.kill()
  for (const { call, wire } of clients) {
    // They come back while nobody knows what they follow.
    wire.standalone?.cut()
    t.match(
      (await call('get_book', { id: 'moby-dick' })).content, [{ text: /Melville/ }],
      'what needs no state goes on'
    )
    await t.rejects(call('create_basket'), { message: /cannot be reached at the moment/ })
  }
  await redis.restart()
  const back = performance.now()
  // More calls than there are replicas: each has a connection of its own.
  const isBack = async ({ call }: OfficialClient) => await Promise.all(
    Array.from({ length: 6 }, async () => await call('create_basket'))
  ).then(() => true, () => false)
  for (const connected of clients) await until(async () => await isBack(connected), 'state', SLOW_MS)
  const calledMs = performance.now() - back
  for (const connected of clients) await checkTold(t, connected)
  const toldMs = performance.now() - back
  for (const { call, notifications, wire } of clients) {
    notifications.length = 0
    await call('build_reading_list', { topic: 'sea', count: 1 })
    t.strictSame(
      notifications.filter(({ method }) => method === 'notifications/message'), [], 'what it has set is kept'
    )
    t.equal(wire.count('initialize'), 1)
  }
  t.strictSame(clients.map(({ sessionId }) => sessionId), ids)
  t.comment(
    `${clients.length} sessions: calls with state ${Math.round(calledMs)} ms after Redis was back, ` +
      `all notified of changes ${Math.round(toldMs)} ms after`
  )
}

/** The process id, with which the text of "work" begins. */
function toPid (text: string): string {
  return text.split(' ')[0] ?? ''
}
