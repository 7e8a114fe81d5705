// What nginx answers in place of the replicas, configured by docker-compose.yml.

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { hasNginx, startNginx } from '../helpers/nginx.ts'
import { findFreePort } from '../helpers/redis-server.ts'
import { toPost } from '../helpers/request.ts'

const CONFIGURATION: string = parse(
  await readFile(new URL('../../docker-compose.yml', import.meta.url), 'utf8')
).configs.nginx.content

/** A replica that is killed as soon as it has received a request. Resolves to its port. */
async function startKilled (t: Test): Promise<number> {
  const server = createServer((socket) => { socket.once('data', () => socket.resetAndDestroy()) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => { server.close() })
  return (server.address() as AddressInfo).port
}

async function checkAnswer (t: Test, ports: readonly number[], message: string): Promise<void> {
  const origin = await startNginx(t, CONFIGURATION, ports)
  for (let times = 0; times < 8; times++) {
    const answer = await fetch(`${origin}/mcp`, { method: 'POST', ...toPost({ method: 'tools/list' }) })
    t.equal(answer.status, 502)
    t.equal(answer.headers.get('content-type'), 'application/json')
    t.strictSame(await answer.json(), { jsonrpc: '2.0', id: null, error: { code: 502, message } })
  }
}

if (hasNginx(t)) {
  t.test('without a replica the answer says that nothing was done', async (t) => {
    const ports = [await findFreePort(), await findFreePort(), await findFreePort()]
    await checkAnswer(t, ports, 'No replica answered. Nothing was done. Try again.')
  })

  t.test('a replica is lost during a request: the outcome is not known', async (t) => {
    const ports = [await startKilled(t), await startKilled(t), await startKilled(t)]
    const origin = await startNginx(t, CONFIGURATION, ports)
    const answer = await fetch(`${origin}/mcp`, { method: 'POST', ...toPost({ method: 'tools/list' }) })
    t.equal(answer.status, 502)
    t.match(await answer.json(), {
      id: null, error: { message: 'No replica answered. It is not known whether the request was done.' }
    })
  })
}
