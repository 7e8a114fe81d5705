// A start whose store answers too slowly.

import { connect } from 'node:net'
import t from 'tap'
import { writeCatalog } from './helpers/catalog-folder.ts'
import { within } from './helpers/deadline.ts'
import { startFakeRedis } from './helpers/fake-redis.ts'
import { runService } from './helpers/service.ts'
import { hasRedisServer, startRedisServer } from './servers/redis-server.ts'

const SECRETS = 'a secret of at least thirty-two characters'

t.test('a Redis that connects and then is too slow ends the start with one line', async (t) => {
  if (!hasRedisServer(t)) return
  const { port } = await startRedisServer(t)
  const url = await startFakeRedis(t, (socket) => {
    const redis = connect(port, '127.0.0.1')
    redis.on('error', () => {}).on('close', () => socket.destroy())
    socket.on('error', () => {}).on('close', () => redis.destroy())
    redis.pipe(socket)
    // Connecting needs no script.
    socket.on('data', (bytes) => { if (!/eval/i.test(String(bytes))) redis.write(bytes) })
  })
  const { code, stderr } = await within(runService({
    TRIVET_CATALOG: await writeCatalog(t, {}), TRIVET_STATE_URL: url, TRIVET_SECRETS: SECRETS
  }), 'the exit', 20_000)
  t.equal(code, 1)
  // The driver gives up the connection at about the same time.
  const reason = '(?:Command timed out|the connection to Redis was lost)'
  const line = `^The state of TRIVET_STATE_URL at 127.0.0.1:\\d+ failed during the start: ${reason}\n$`
  t.match(stderr, new RegExp(line))
})
