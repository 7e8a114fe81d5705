import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'

/** Starts a server, and stops it when the test ends. Resolves to its URL as that of a Redis. */
export async function startFakeRedis (t: Test, onConnection: (socket: Socket) => void): Promise<string> {
  const server = createServer(onConnection).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
}
