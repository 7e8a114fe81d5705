// Going down without losing anything: no new work, streams end with their result, and what is being served may finish.

import type { FastifyInstance } from 'fastify'
import type { Subscriptions } from '../events/subscriptions.ts'
import type { Health } from './health-routes.ts'
import type { InFlight } from './in-flight.ts'

export interface ShutdownOptions {
  readonly inFlight: InFlight
  readonly subscriptions: Subscriptions
  readonly timeoutMs: number
  /** What else must be closed when the last request has ended. */
  closeRest (): Promise<void>
}

/** After its end was announced, a request has this long to send its last bytes, in milliseconds. */
const LAST_BYTES_MS = 500

export function registerShutdown (app: FastifyInstance, { inFlight, subscriptions, timeoutMs, closeRest }: ShutdownOptions): Health {
  const health: { unreadyReason: string | undefined } = { unreadyReason: undefined }
  const timers: NodeJS.Timeout[] = []

  app.addHook('preClose', (done) => {
    health.unreadyReason = 'shutting down'
    // Connections that fall idle from now on are not kept.
    app.server.keepAliveTimeout = 1
    subscriptions.close()
    timers.push(setTimeout(() => {
      inFlight.abortAll()
      timers.push(setTimeout(() => app.server.closeAllConnections(), LAST_BYTES_MS))
    }, timeoutMs))
    done()
  })
  app.addHook('onClose', async () => {
    for (const timer of timers) clearTimeout(timer)
    await closeRest()
  })
  return health
}
