// Uploads may take longer than other requests, as long as bytes come.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const spared = new WeakSet<object>()
const changed = new WeakSet<Server>()

/** Returns a function that spares the current request of a connection from the timeout of the server. */
export function spareFromReceiveTimeout (server: Server): (socket: Socket) => void {
  if (!changed.has(server)) {
    changed.add(server)
    const listeners = server.listeners('clientError')
    server.removeAllListeners('clientError')
    // Node says once that the time of a request is over. It does nothing by itself if there is a listener.
    server.on('clientError', (error, socket) => {
      const isTimeout = 'code' in error && error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      if (isTimeout && spared.has(socket)) return
      for (const listener of listeners) Reflect.apply(listener, server, [error, socket])
    })
  }
  return (socket) => spared.add(socket)
}
