// What was left out of a result on one replica is read on another one.

import t, { type Test } from 'tap'
import { createApp } from '../../src/app/app.ts'
import { authenticator, call, CUT, cursorOf, FILES, readAll } from '../features/remainders/cut-results.ts'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { QUIET } from '../helpers/quiet-options.ts'
import { send } from '../helpers/request.ts'
import { hasPostgresServer, startPostgresServer } from '../servers/postgres-server.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'

async function checkPair (t: Test, stateUrl: string): Promise<void> {
  const catalog = await writeCatalog(t, {
    ...FILES,
    'tools/once.ts': toolModule(
      'once', `${CUT}, dedupe: true, annotations: { idempotentHint: true }`, "() => 'word '.repeat(5000)"
    )
  })
  const secrets = ['the secret that both replicas have']
  const options = { ...QUIET, catalog, authenticator, stateUrl, secrets }
  const open = async () => {
    const app = await createApp(options)
    t.teardown(async () => await app.close())
    return app
  }
  const [first, second] = [await open(), await open()]
  const { result } = await call(first, 'lines', { count: 2000 }, 'ann')
  const { pieces } = await readAll(second, result, 'ann')
  t.match(result.content[0].text + pieces.join(''), /^Line 0: .*\nLine 1999: ü "quoted" 👩‍🚀\.$/s)
  t.match((await call(second, 'read_more', { cursor: cursorOf(result) }, 'bob')).result, { isError: true })
  const headers = { authorization: 'ann', 'idempotency-key': 'one' }
  const [once, again] = await Promise.all([first, second].map(async (app) => (
    await send(app, { method: 'tools/call', params: { name: 'once', arguments: {} }, headers })
  )))
  t.ok(cursorOf(once?.response.result))
  t.strictSame(again?.response.result, once?.response.result, 'a repeated call has the same remainder')
  const cursors = await Promise.all(Array.from({ length: 140 }, async (_, index) => (
    cursorOf((await call(index % 2 === 0 ? first : second, 'rows', { count: 300 }, 'eve')).result)
  )))
  const more = await Promise.all(cursors.map(async (cursor) => (
    (await call(first, 'read_more', { cursor }, 'eve')).result.isError
  )))
  t.ok(more.every((isError) => isError === undefined), 'one caller has many small ones')
}

t.test('on Redis', { skip: !hasRedisServer(t) }, async (t) => {
  await checkPair(t, (await startRedisServer(t)).url)
})

t.test('on PostgreSQL', { skip: !hasPostgresServer(t) }, async (t) => {
  await checkPair(t, (await startPostgresServer(t)).url)
})
