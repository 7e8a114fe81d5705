import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Finds a free port that the system gives to no outgoing connection: a server that restarts must find its
 * port free.
 */
export async function findFreePort (): Promise<number> {
  const port = randomInt(20_000, 32_000)
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return await findFreePort()
  }
  probe.close()
  await once(probe, 'close')
  return port
}
