// Services that share one Redis stay apart by their prefixes or their databases.

import t, { type Test } from 'tap'
import { createApp, type AppOptions } from '../../../../../src/app/app.ts'
import { listen } from '../../../../helpers/app.ts'
import { writeCatalog } from '../../../../helpers/catalog-folder.ts'
import { counterModule } from '../../../../helpers/counter-module.ts'
import { until } from '../../../../helpers/deadline.ts'
import { hasRedisServer, startRedisServer, type RedisServer } from '../../../../servers/redis-server.ts'
import { openSession } from '../../../../helpers/session.ts'
import { openStream, post, type AnswerStream } from '../../../../helpers/stream.ts'

const FILES = {
  'tools/list.ts': counterModule('list', 'lst', 'idleTtlMs: 600_000'),
  'tools/touch.ts': `
    import { defineTool } from 'trivet'
    const properties = { uri: { type: 'string' } } as const
    const inputSchema = { type: 'object', properties, required: ['uri'] } as const
    const run = ({ uri }, ctx) => { ctx.notify.resourceUpdated(uri); return 'touched' }
    export default defineTool({ name: 'touch', description: 'Touches.', inputSchema, run })`,
  'tools/ask.ts': `
    import { defineTool, roots } from 'trivet'
    const run = async (_, ctx) => String((await ctx.ask({ a: roots() })).a.roots.length)
    export default defineTool({ name: 'ask', description: 'Asks.', run })`,
  'resources/a.md': '# a',
  'resources/b.md': '# b'
}
const LISTEN = { resourceSubscriptions: ['file:///a.md', 'file:///b.md'] }

/** Two replicas of one service, and another service, each by its endpoint. */
interface Services { readonly here: string, readonly beside: string, readonly apart: string }

type Place = Required<Pick<AppOptions, 'stateUrl' | 'statePrefix'>>

async function start (t: Test, own: Place, other: Place): Promise<Services> {
  const catalog = await writeCatalog(t, FILES)
  const startOne = async (place: Place): Promise<string> => {
    // With the same secret, so that only the prefixes or databases keep them apart.
    const secrets = ['the secret that all of them have']
    const app = await createApp({ ...place, catalog, secrets, watch: 'off', logLevel: 'silent' })
    t.teardown(async () => await app.close())
    return await listen(app)
  }
  return { here: await startOne(own), beside: await startOne(own), apart: await startOne(other) }
}

async function call (t: Test, url: string, name: string, args: object = {}): Promise<string> {
  const { response } = await post(t, url, { method: 'tools/call', params: { name, arguments: args } })
  return response.result.content[0].text
}

const urisOf = ({ messages }: AnswerStream) => messages.flatMap(({ params }) => params?.uri ?? [])

async function checkApart (t: Test, { here, beside, apart }: Services): Promise<void> {
  t.test('no handle crosses', async (t) => {
    const id = await call(t, here, 'create_list')
    t.equal(await call(t, beside, 'read_list', { id }), '[]')
    for (const verb of ['read', 'change', 'delete']) {
      t.match(await call(t, apart, `${verb}_list`, { id, name: 'a' }), /^There is no list /, verb)
    }
    t.equal(await call(t, beside, 'read_list', { id }), '[]')
  })

  t.test('no event crosses', async (t) => {
    const open = async (url: string) => {
      const params = { notifications: LISTEN }
      const stream = await openStream(t, url, { method: 'subscriptions/listen', params })
      t.match(await stream.next(), { method: 'notifications/subscriptions/acknowledged' })
      return stream
    }
    const [streamBeside, streamApart] = [await open(beside), await open(apart)]
    await call(t, here, 'touch', { uri: 'file:///a.md' })
    await until(() => urisOf(streamBeside).length > 0, 'the event on the other replica')
    await call(t, apart, 'touch', { uri: 'file:///b.md' })
    await until(() => urisOf(streamApart).length > 0, 'its own event')
    t.strictSame(urisOf(streamApart), ['file:///b.md'])
    t.strictSame(urisOf(streamBeside), ['file:///a.md'])
  })

  t.test('no end of a session crosses', async (t) => {
    const session = await openSession(t, here)
    const [sessionBeside, sessionApart] = [session.with({ url: beside }), session.with({ url: apart })]
    const status = async (client: typeof session) => (await client.request('ping')).status
    t.strictSame([await status(sessionBeside), await status(sessionApart)], [200, 200])
    await session.end()
    await until(async () => await status(sessionBeside) === 404, 'the end on the other replica')
    t.equal(await status(sessionApart), 200)
  })

  t.test('no answer crosses', async (t) => {
    const session = await openSession(t, here)
    const reply = await session.startCall('ask')
    const { id } = await reply.next()
    const refused = await session.with({ url: apart }).answer(id, { roots: [{ uri: 'file:///wrong' }] })
    t.equal(refused.status, 400, refused.text)
    t.notOk(reply.hasEnded)
    const taken = await session.with({ url: beside }).answer(id, { roots: [] })
    t.equal(taken.status, 202, taken.text)
    t.equal((await reply.ended()).result.content[0].text, '0')
  })

  t.test('no stream of a call crosses', async (t) => {
    const session = await openSession(t, here)
    const reply = await session.startCall('ask')
    const { id } = await reply.next()
    const headers = { 'last-event-id': reply.lastEventId }
    t.match(headers, { 'last-event-id': /^c\./ })
    const resumed = await session.with({ url: beside }).get(headers)
    t.equal(resumed.status, 200)
    t.not((await session.with({ url: apart }).get(headers)).status, 200)
    await session.answer(id, { roots: [] })
    t.equal((await resumed.next()).result.content[0].text, '0')
  })
}

/** All names of keys and channels on a server. */
async function namesOn (server: RedisServer, db: number): Promise<{ keys: string[], channels: string[] }> {
  const keys = (await server.cli('-n', String(db), 'keys', '*')).split('\n').filter((key) => key !== '')
  return { keys, channels: (await server.cli('pubsub', 'channels')).split('\n').toSorted() }
}

if (hasRedisServer(t)) {
  for (const other of ['shop-2', 'shop.broadcast', 'trivet']) {
    t.test(`services of the prefixes shop and ${other}`, { timeout: 60_000 }, async (t) => {
      const server = await startRedisServer(t)
      const place = { stateUrl: server.url, statePrefix: 'shop' }
      const services = await start(t, place, { ...place, statePrefix: other })
      await checkApart(t, services)
      t.test('use no other name', async (t) => {
        const { keys, channels } = await namesOn(server, 0)
        t.ok(keys.length > 3)
        t.strictSame(keys.filter((key) => !key.startsWith('shop:') && !key.startsWith(`${other}:`)), [])
        t.strictSame(channels, ['shop:broadcast', `${other}:broadcast`].toSorted())
      })
    })
  }

  for (const [own, other] of [[0, 1], [2, 0], [2, 3]] as const) {
    t.test(`services of the databases ${own} and ${other}`, { timeout: 60_000 }, async (t) => {
      const server = await startRedisServer(t)
      const place = (db: number) => ({ stateUrl: `${server.url}/${db}`, statePrefix: 'trivet' })
      const services = await start(t, place(own), place(other))
      await checkApart(t, services)
      t.test('have the number of the database in their channels, unless it is 0', async (t) => {
        const { keys, channels } = await namesOn(server, own)
        t.ok(keys.length > 3)
        t.strictSame(keys.filter((key) => !/^trivet:(?:stream:)?\{/.test(key)), [])
        const named = [own, other].map((db) => `${db === 0 ? 'trivet' : `trivet:${db}`}:broadcast`)
        t.strictSame(channels, named.toSorted())
      })
    })
  }
}
