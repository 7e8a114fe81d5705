// Finds a port for a server that cannot find a free port itself.

import { once } from 'node:events'
import { createServer } from 'node:net'

export async function findFreePort () {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}
