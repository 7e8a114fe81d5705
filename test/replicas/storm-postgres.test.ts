// The storm on PostgreSQL.

import t from 'tap'
import { hasNginx } from '../servers/nginx.ts'
import { hasPostgresServer, startPostgresServer } from '../servers/postgres-server.ts'
import { testStorm } from './storm.ts'

if (hasPostgresServer(t) && hasNginx(t)) {
  testStorm(t, async (t) => {
    const { port, url } = await startPostgresServer(t, { isDurable: true })
    return { port, urlAt: (other) => url.replace(`:${port}/`, `:${other}/`) }
  })
}
