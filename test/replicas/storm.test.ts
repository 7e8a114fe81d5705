// The storm on Redis.

import t from 'tap'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { testStorm } from './storm.ts'

if (hasRedisServer(t) && hasNginx(t)) {
  testStorm(t, async (t) => {
    const { port } = await startRedisServer(t, { isDurable: true })
    return { port, urlAt: (other) => `redis://127.0.0.1:${other}` }
  })
}
