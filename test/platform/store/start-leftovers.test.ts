// A start that fails leaves nothing open: a program that embeds the service may go on, or ends by itself.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { replaceTime, type Timer } from '../../../src/base/time.ts'
import { createApp, type AppOptions } from '../../../src/app/app.ts'
import { openBackend } from '../../../src/platform/store/backends/url-schemes.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { openLeavingServer } from '../../servers/leaving-server.ts'
import { hasPostgresServer, startPostgresServer } from '../../servers/postgres-server.ts'
import { hasRedisServer, startRedisServer } from '../../servers/redis-server.ts'

const DEADLINE = { timeout: 120_000 }
/** The packets after which the server is lost for good: while it connects, prepares, and opens its parts. */
const MOMENTS = [0, 1, 3, 6, 9, 12, 15, 18, 21, 24]
const LATE = 'lost late'
const NO_CATALOG = join(import.meta.dirname, 'missing')
const toName = (index: number) => index < 7 ? `lost at moment ${index}` : LATE
/** Connections, timers and processes that keep this process alive. */
const LASTING = /^(?:TCP|TLS|Pipe|Process|Timeout|MessagePort|Worker|DNS|GetAddr|Shutdown|Connect|UDP)/
/** The timers of the service, those too that keep nothing alive. */
const pending = new Set<Timer | undefined>()

t.before(() => {
  const toMethod = (name: 'setTimeout' | 'setInterval') => (callback: () => void, ms: number): Timer => {
    const timer = globalThis[name](() => {
      if (name === 'setTimeout') pending.delete(timer)
      callback()
    }, ms)
    pending.add(timer)
    return timer
  }
  t.teardown(replaceTime({
    setTimeout: toMethod('setTimeout'),
    setInterval: toMethod('setInterval'),
    clear (timer) {
      pending.delete(timer)
      clearTimeout(timer as NodeJS.Timeout | undefined)
    }
  }))
})

function listOpen (): string {
  const resources = process.getActiveResourcesInfo().filter((name) => LASTING.test(name)).sort()
  return [...resources, ...Array.from(pending, () => 'timer of the service')].join('\n')
}

/** Starts the service with each of the options. Compares what is open before, and after the failures. */
async function checkLeftovers (
  t: Test, starts: ReadonlyArray<readonly [name: string, options: AppOptions]>
): Promise<void> {
  const catalog = await writeCatalog(t, {})
  const before = listOpen()
  await Promise.all(starts.map(async ([name, options]) => {
    const starting = createApp({ catalog, ...QUIET, secrets: ['s'.repeat(32)], ...options })
    // A server that is lost late in the start may have been of use until then.
    if (name === LATE) return await starting.then(async (app) => await app.close(), () => {})
    await t.rejects(starting, { message: /TRIVET_STATE_URL|TRIVET_CATALOG/ }, name)
  }))
  await until(() => listOpen() === before, 'the end of what the starts opened', 10_000).catch(() => {})
  t.equal(listOpen(), before, 'nothing is left open')
}

t.test('a Redis that is lost, or refuses, during the start leaves nothing open', DEADLINE, async (t) => {
  if (!hasRedisServer(t)) return
  const { port } = await startRedisServer(t)
  const locked = await startRedisServer(t, { password: 'right' })
  const leaving = await Promise.all(MOMENTS.map(async (at) => (
    await openLeavingServer(t, port, { at, ms: Infinity })
  )))
  await checkLeftovers(t, [
    ...leaving.map((server, index): [string, AppOptions] => (
      [toName(index), { stateUrl: `redis://127.0.0.1:${server.port}`, statePrefix: `p${index}` }]
    )),
    ['no catalog', { stateUrl: `redis://127.0.0.1:${port}`, catalog: NO_CATALOG }],
    ['no server', { stateUrl: 'redis://127.0.0.1:1' }],
    ['no cluster', { stateUrl: 'redis+cluster://127.0.0.1:1' }],
    ['no Sentinel', { stateUrl: 'redis+sentinel://127.0.0.1:1/master' }],
    ['no support for clusters', { stateUrl: `redis+cluster://127.0.0.1:${port}` }],
    ['password', { stateUrl: `redis://:wrong@127.0.0.1:${locked.port}` }]
  ])
})

t.test('a PostgreSQL that is lost, or refuses, during the start leaves nothing open', DEADLINE, async (t) => {
  if (!hasPostgresServer(t)) return
  const { port, url, sql } = await startPostgresServer(t, { settings: ['max_connections = 400'] })
  await (await openBackend(url, { log: { warn () {} }, prefix: 'later' })).close()
  await sql('INSERT INTO later.versions (version, oldest_user) VALUES (7, 6)')
  const leaving = await Promise.all(MOMENTS.map(async (at) => (
    await openLeavingServer(t, port, { at: Math.round(at * 2.5), ms: Infinity })
  )))
  await checkLeftovers(t, [
    ...leaving.map((server, index): [string, AppOptions] => [toName(index), {
      stateUrl: `postgres://postgres@127.0.0.1:${server.port}/postgres`, statePrefix: `p${index}`
    }]),
    ['no catalog', { stateUrl: url, catalog: NO_CATALOG }],
    ['a schema of a later release', { stateUrl: url, statePrefix: 'later' }],
    ['no server', { stateUrl: 'postgres://postgres@127.0.0.1:1/postgres' }],
    ['no database', { stateUrl: `postgres://postgres@127.0.0.1:${port}/other` }]
  ])
})

t.test('what the files refuse leaves nothing open', DEADLINE, async (t) => {
  const folder = await makeFolder(t)
  await writeFile(join(folder, 'file'), '')
  await checkLeftovers(t, [
    ['folder', { stateUrl: `file:${join(folder, 'file')}` }],
    ['no catalog', { catalog: NO_CATALOG }],
    ['a folder, and no catalog', { stateUrl: `file:${join(folder, 'state')}`, catalog: NO_CATALOG }]
  ])
})
