// What a proxy answers in place of the replicas, configured by docker-compose.yml.

import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { PROXIES } from '../servers/proxies.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { toPost } from '../helpers/request.ts'

/** The HTTP status if nothing was sent to a replica. */
const UNSENT_STATUS: { readonly [name: string]: number } = { nginx: 502, haproxy: 503 }

/** A replica that is killed as soon as it has received a request. Resolves to its port. */
async function startKilled (t: Test): Promise<number> {
  const server = createServer((socket) => { socket.once('data', () => socket.resetAndDestroy()) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => { server.close() })
  return (server.address() as AddressInfo).port
}

async function checkAnswer (t: Test, origin: string, code: number, message: string): Promise<void> {
  const answer = await fetch(`${origin}/mcp`, { method: 'POST', ...toPost({ method: 'tools/list' }) })
  t.equal(answer.status, code)
  t.equal(answer.headers.get('content-type'), 'application/json')
  t.strictSame(await answer.json(), { jsonrpc: '2.0', id: null, error: { code, message } })
}

for (const [name, { isInstalled, start }] of Object.entries(PROXIES)) {
  if (!isInstalled(t)) continue

  t.test(`${name}: without a replica the answer says that nothing was done`, async (t) => {
    const origin = await start(t, [await findFreePort(), await findFreePort(), await findFreePort()])
    for (let times = 0; times < 8; times++) {
      await checkAnswer(
        t, origin, UNSENT_STATUS[name] ?? 0, 'No replica answered. Nothing was done. Try again.'
      )
    }
  })

  t.test(`${name}: a replica is lost during a request: the outcome is not known`, async (t) => {
    const origin = await start(t, [await startKilled(t), await startKilled(t), await startKilled(t)])
    await checkAnswer(t, origin, 502, 'No replica answered. It is not known whether the request was done.')
  })
}
