// Opening sessions and ending them on two services that share a Redis.

import t from 'tap'
import { buildApp, listen } from '../../../helpers/app.ts'
import { toolModule } from '../../../helpers/catalog-folder.ts'
import { until } from '../../../helpers/deadline.ts'
import { openSession } from '../../../helpers/session.ts'
import { hasRedisServer, startRedisServer } from '../../../servers/redis-server.ts'

const FILES = { 'tools/quick.ts': toolModule('quick') }
const SECRETS = ['a secret that both of them have, of some length']

t.test('two services that share a Redis', async (t) => {
  if (!hasRedisServer(t)) return
  const { url: stateUrl } = await startRedisServer(t)
  const start = async () => await listen(
    await buildApp(t, FILES, {
      stateUrl, secrets: SECRETS, authenticator: { authenticate: () => ({ scopes: new Set() }) }
    })
  )
  const [here, there] = [await start(), await start()]

  t.test('serve each other\'s sessions', async (t) => {
    const session = await openSession(t, here, { revision: '2025-06-18' })
    t.equal((await session.with({ url: there }).call('quick')).result.content[0].text, 'ok')
  })

  t.test('both refuse an ended session, and so does a service that starts later (324, 325)', async (t) => {
    const session = await openSession(t, here)
    const elsewhere = session.with({ url: there })
    const listening = await elsewhere.get()
    t.equal((await session.end()).status, 204)
    await until(async () => (await elsewhere.call('quick')).status === 404, 'the other to know')
    await listening.ended()
    t.equal((await session.with({ url: await start() }).call('quick')).status, 404)
  })
})
