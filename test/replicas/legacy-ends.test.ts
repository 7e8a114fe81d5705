// Sessions that official clients end: no replica serves them any longer.

import t, { type Test } from 'tap'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import type { Replica } from '../helpers/replicas.ts'
import { connectOfficial, KINDS, type Kind } from './legacy-client.ts'
import { startShop, type Shop } from './legacy-shop.ts'

t.setTimeout(240_000)

if (hasRedisServer(t) && hasNginx(t)) {
  t.test('three replicas behind nginx', async (t) => {
    const shop = await startShop(t)
    for (const kind of KINDS) {
      t.test(
        `client ${kind.generation}.x at ${kind.revision}: an ended session stays ended on all replicas`,
        async (t) => await checkEnd(t, shop, kind)
      )
    }
  })
}

async function checkEnd (t: Test, { url, replicas }: Shop, kind: Kind): Promise<void> {
  const [ending, other] = [await connectOfficial(t, url, kind), await connectOfficial(t, url, kind)]
  const { sessionId = '' } = ending
  const status = async ({ url }: Replica) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': sessionId
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    })
    await response.arrayBuffer()
    return response.status
  }
  const statuses = async () => await Promise.all(replicas.map(status))
  t.strictSame(await statuses(), [200, 200, 200])
  await ending.terminate()
  t.strictSame(await statuses(), [404, 404, 404], 'as soon as the client knows that it is')
  await replicas[2]?.kill('SIGTERM')
  await replicas[2]?.restart()
  t.strictSame(await statuses(), [404, 404, 404], 'also where that was never heard')
  await other.call('get_book', { id: 'moby-dick' })
  t.equal(other.wire.count('initialize'), 1, 'and another session goes on')
}
