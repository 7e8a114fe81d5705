// Going down without losing anything: no new work, streams end with their result, and what is being served
// may finish.

import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Lifetimes } from '../dispatch/lifetimes.ts'
import type { Health } from './health-routes.ts'

export interface ShutdownOptions {
  readonly lifetimes: Lifetimes
  /** Ends what would go on for ever, each stream in its own way. */
  endStreams (): void
  readonly timeoutMs: number
  /**
   * How long requests are still served after the end was announced, for a load balancer that learns of it
   * late.
   */
  readonly drainMs: number
  /** What else must be closed when the last request has ended. */
  closeRest (): Promise<void>
}

export interface Shutdown extends Health {
  /** Whether new requests are refused, so that a load balancer takes them elsewhere. */
  readonly isRefusing: boolean
  /** Announces the end, and waits until requests have stopped coming. To be followed by closing the app. */
  drain (): Promise<void>
}

const SHUTTING_DOWN = 'shutting down'
/**
 * How long new requests are refused before the listener closes: a connection that is closed unread loses its
 * request.
 */
const REFUSING_MS = 1000
/** After its end was announced, a request has this long to send its last bytes, in milliseconds. */
const LAST_BYTES_MS = 500

export function registerShutdown (
  app: FastifyInstance, { lifetimes, endStreams, timeoutMs, drainMs, closeRest }: ShutdownOptions
): Shutdown {
  let unreadyReason: string | undefined
  let isRefusing = false
  const timers: NodeJS.Timeout[] = []
  let giveUp = (): void => {}
  const late = new Promise<void>((resolve) => { giveUp = resolve })

  app.addHook('preClose', (done) => {
    unreadyReason = SHUTTING_DOWN
    // Connections that fall idle from now on are not kept.
    app.server.keepAliveTimeout = 1
    endStreams()
    timers.push(setTimeout(() => {
      lifetimes.stopAll()
      timers.push(setTimeout(() => {
        app.server.closeAllConnections()
        giveUp()
      }, LAST_BYTES_MS))
    }, timeoutMs))
    done()
  })
  app.addHook('onClose', async () => {
    // A session's request may go on after its client has left: the client comes back for the answer, to
    // another replica.
    await Promise.race([lifetimes.settled(), late])
    for (const timer of timers) clearTimeout(timer)
    await closeRest()
  })
  return {
    get unreadyReason () { return unreadyReason },
    get isRefusing () { return isRefusing },
    async drain () {
      unreadyReason = SHUTTING_DOWN
      await pause(drainMs)
      isRefusing = true
      await pause(REFUSING_MS)
    }
  }
}
