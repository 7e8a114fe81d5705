// A handle is one thing, whichever of two replicas makes, changes or ends it; and what happens to it while
// Redis is away.

import t, { type Test } from 'tap'
import type { Authenticator } from '../../src/platform/access/authentication.ts'
import { ANONYMOUS } from '../../src/platform/access/principal.ts'
import { createApp } from '../../src/app/app.ts'
import { listen } from '../helpers/app.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { counterModule } from '../helpers/counter-module.ts'
import { until, within } from '../helpers/deadline.ts'
import { startPair } from '../helpers/pair.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import type { Message, RequestParts } from '../helpers/request.ts'
import { startService } from '../helpers/service.ts'
import { openStream, post } from '../helpers/stream.ts'

const SECRET = 'the secret that all replicas here have'
const RANDOM_PART = 'AAAAAAAAAAAAAAAAAAAAAA'
/** Past this a call counts as hanging. */
const QUICK_MS = 3000

const FILES = {
  'tools/list.ts': counterModule('list', 'lst', 'idleTtlMs: 600_000'),
  'tools/spark.ts': counterModule('spark', 'spk', 'idleTtlMs: 1000, maxAgeMs: 1000'),
  'tools/touch.ts': `
import { defineTool } from 'trivet'
export default defineTool({
  name: 'touch', description: 'Needs no state.',
  run: (_args, ctx) => {
    ctx.notify.resourceUpdated('file:///a.md')
    return 'touched'
  }
})
`,
  'resources/a.md': '# a'
}

/** Knows names, and everyone without one as anonymous: as the replicas do that ask for no token. */
const byName: Authenticator = {
  authenticate: (name) => name === undefined ? ANONYMOUS : { subject: name, scopes: new Set() }
}

interface Outcome { readonly isError?: boolean, readonly text: string }

async function call (
  t: Test, url: string, name: string, args: object = {}, more: Partial<RequestParts> = {}
): Promise<Outcome> {
  const { response } = await post(t, url, {
    method: 'tools/call', params: { name, arguments: args }, ...more
  })
  const { isError, content: [{ text }] } = response.result
  return isError === undefined ? { text } : { isError, text }
}

const unknown = (kind: string, id: string): Outcome => ({
  isError: true, text: `There is no ${kind} "${id}". It may have expired; create_${kind} makes a new one.`
})

async function health (url: string, path: string): Promise<{ status: number, body: Message }> {
  const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(QUICK_MS) })
  return { status: response.status, body: await response.json() }
}

if (hasRedisServer(t)) {
  const redis = await startRedisServer(t, { isDurable: true })
  const catalog = await writeCatalog(t, FILES)
  const pair = await startPair(t, redis, { TRIVET_CATALOG: catalog, TRIVET_SECRETS: SECRET })
  const [one, other] = [pair[0].url, pair[1].url]

  t.test('what one replica makes the other reads, changes and deletes, and the other way round (66, ' +
    '67)', async (t) => {
    for (const [here, there] of [[one, other], [other, one]] as const) {
      const { text: id } = await call(t, here, 'create_list')
      t.match(id, /^lst_[A-Za-z0-9_-]{22}$/)
      t.strictSame(await call(t, there, 'read_list', { id }), { text: '[]' })
      t.strictSame(await call(t, there, 'change_list', { id, name: 'a' }), { text: '["a"]' })
      t.strictSame(await call(t, here, 'change_list', { id, name: 'b' }), { text: '["a","b"]' })
      t.strictSame(await call(t, there, 'read_list', { id }), { text: '["a","b"]' })
      t.strictSame(await call(t, there, 'delete_list', { id }), { text: 'deleted' })
      for (const name of ['read_list', 'change_list', 'delete_list']) {
        t.strictSame(await call(t, here, name, { id }), unknown('list', id), name)
      }
    }
  })

  t.test('of changes that both make at once none is lost and none is made twice', async (t) => {
    const { text: id } = await call(t, one, 'create_list')
    const names = Array.from({ length: 60 }, (_, index) => `n${index}`)
    const outcomes = await Promise.all(
      names.map(
        async (name, index) => await call(t, index % 2 === 0 ? one : other, 'change_list', { id, name })
      )
    )
    t.strictSame(outcomes.filter(({ isError }) => isError), [], 'all were acknowledged')
    for (const url of [one, other]) {
      t.strictSame(JSON.parse((await call(t, url, 'read_list', { id })).text).toSorted(), names.toSorted())
    }
  })

  t.test('unknown, deleted, expired and somebody else\'s are one answer on both, which names the tool that ' +
    'makes a new one', async (t) => {
    const app = await createApp({
      catalog,
      watch: 'off',
      logLevel: 'silent',
      stateUrl: redis.url,
      secrets: [SECRET],
      authenticator: byName,
      overload: 'off'
    })
    t.teardown(async () => await app.close())
    const third = await listen(app)
    const asAda = { headers: { authorization: 'ada' } }

    const { text: foreign } = await call(t, third, 'create_list', {}, asAda)
    const { text: own } = await call(t, one, 'create_list')
    const { text: deleted } = await call(t, one, 'create_list')
    await call(t, other, 'delete_list', { id: deleted })
    const { text: expired } = await call(t, one, 'create_spark')
    t.strictSame(
      await call(t, third, 'read_list', { id: own }), { text: '[]' }, 'the third shares their state'
    )

    for (const url of [one, other, third]) {
      // Asking does not keep it: it has a greatest age.
      await until(async () => (await call(t, url, 'read_spark', { id: expired })).isError === true, 'its end')
      for (
        const [kind, ids] of [
          ['list', [deleted, foreign, `lst_${RANDOM_PART}`, 'lst_x', expired]],
          ['spark', [expired, `spk_${RANDOM_PART}`, own]]
        ] as const
      ) {
        for (const id of ids) {
          for (const verb of ['read', 'change', 'delete']) {
            t.strictSame(
              await call(t, url, `${verb}_${kind}`, { id, name: 'a' }), unknown(kind, id),
              `${verb} ${kind} ${id}`
            )
          }
        }
      }
    }
    t.strictSame(await call(t, third, 'read_list', { id: own }, asAda), unknown('list', own))
    t.strictSame(
      await call(t, third, 'read_list', { id: foreign }, asAda), { text: '[]' }, 'whose it is still has it'
    )
    t.strictSame(await call(t, one, 'read_list', { id: own }), { text: '[]' })
  })

  t.test('a handle outlives the replica that made it, whether that is stopped or crashes', {
    timeout: 60_000
  }, async (t) => {
    const start = async () => await startService(t, {
      TRIVET_CATALOG: catalog, TRIVET_WATCH: 'off', TRIVET_STATE_URL: redis.url, TRIVET_SECRETS: SECRET
    })
    let maker = await start()
    const { text: id } = await call(t, maker.url, 'create_list')
    const names: string[] = []
    const change = async (url: string, name: string) => {
      names.push(name)
      t.strictSame(await call(t, url, 'change_list', { id, name }), { text: JSON.stringify(names) }, name)
    }
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await change(maker.url, `before ${signal}`)
      t.equal(await within(maker.stop(signal), 'its end', 10_000), signal === 'SIGTERM' ? 0 : null, signal)
      await change(other, `during ${signal}`)
      maker = await start()
      await change(maker.url, `after ${signal}`)
    }
  })

  t.test('without Redis both fail quickly and say so, serve what needs none, and are back by themselves', {
    timeout: 60_000
  }, async (t) => {
    const { text: id } = await call(t, one, 'create_list')
    await call(t, other, 'change_list', { id, name: 'before' })
    const stream = await openStream(t, other, {
      method: 'subscriptions/listen',
      params: { notifications: { resourceSubscriptions: ['file:///a.md'] } },
      id: 'sub'
    })
    t.match(await stream.next(), { method: 'notifications/subscriptions/acknowledged' })

    for (
      const [end, [fail, recover]] of Object.entries(
        { crashed: [redis.kill, redis.restart], hanging: [redis.freeze, redis.thaw] } as const
      )
    ) {
      await fail()
      for (const url of [one, other]) {
        for (
          const [name, args] of [
            ['read_list', { id }], ['change_list', { id, name: 'lost' }], ['create_list', {}],
            ['delete_list', { id: `lst_${RANDOM_PART}` }]
          ] as const
        ) {
          t.strictSame(
            await within(call(t, url, name, args), `${name} with Redis ${end}`, QUICK_MS),
            { isError: true, text: 'The list cannot be reached at the moment. Try again in a few seconds.' },
            `${end}: ${name}`
          )
        }
        t.strictSame(await health(url, '/readyz'), {
          status: 503, body: { status: 'unready' }
        })
        t.strictSame(
          await health(url, '/livez'), { status: 200, body: { status: 'ok' } }, 'nobody need restart it'
        )
        t.strictSame(await within(call(t, url, 'touch'), 'a tool without state', QUICK_MS), {
          text: 'touched'
        })
      }
      await recover()
      for (const url of [one, other]) {
        await until(
          async () => (await health(url, '/readyz')).status === 200, 'Redis to be found again', 15_000
        )
      }
      for (const url of [one, other]) {
        t.match(
          await call(t, url, 'change_list', { id, name: end }), { isError: undefined, text: /^\["before",/ },
          `${end}: what was acknowledged is there`
        )
      }
      // More than what makes up for the changes that nobody could hear.
      const heard = stream.messages.length
      await until(async () => {
        await call(t, one, 'touch')
        return stream.messages.length > heard + 5
      }, 'changes through one replica to be heard on the other', 15_000)
      t.match(stream.messages.at(-1), {
        method: 'notifications/resources/updated', params: { uri: 'file:///a.md' }
      })
    }
    t.notOk(stream.hasEnded)
  })
}
