// A shutdown that loses no request: new requests are refused, streams end with their result, and requests
// that are being served may finish.

import type { FastifyInstance } from 'fastify'
import { type Timer, timers } from '../../base/time.ts'
import type { Lifetimes } from '../../request/pipeline/lifetimes.ts'
import type { Health } from './readiness.ts'

interface ShutdownOptions {
  readonly lifetimes: Lifetimes
  /** Ends the streams that have no end of their own. */
  endStreams (): void
  /** How long requests may run after closing has begun, in milliseconds. */
  readonly timeoutMs: number
  /**
   * How long new requests are served after /readyz has turned unready, in milliseconds: the load balancer
   * needs time to notice.
   */
  readonly drainMs: number
  /** Closes the rest of the service after the last request has ended. */
  closeRest (): Promise<void>
}

export interface Shutdown extends Health {
  /** Whether new requests are refused, so that a load balancer sends them to another replica. */
  readonly isRefusing: boolean
  /** Turns /readyz unready. */
  turnUnready (): void
  /**
   * Turns /readyz unready, and waits until load balancers have noticed. Close the app afterwards.
   * @param timeoutMs replaces the option: others may have used a part of the time.
   */
  drain (timeoutMs?: number): Promise<void>
}

const SHUTTING_DOWN = 'shutting down'
/**
 * How long new requests are refused before the listener closes, in milliseconds: a connection that is closed
 * before its request was read loses the request.
 */
const REFUSING_MS = 1000
/** How long a request that was stopped may take to send its answer, in milliseconds. */
const LAST_BYTES_MS = 500

export function registerShutdown (
  app: FastifyInstance, { lifetimes, endStreams, timeoutMs, drainMs, closeRest }: ShutdownOptions
): Shutdown {
  let unreadyReason: string | undefined
  let isRefusing = false
  let requestsMs = timeoutMs
  const running: Timer[] = []
  let resolveTimedOut = (): void => {}
  const timedOut = new Promise<void>((resolve) => { resolveTimedOut = resolve })

  app.addHook('preClose', (done) => {
    unreadyReason = SHUTTING_DOWN
    // Connections that become idle from now on are closed.
    app.server.keepAliveTimeout = 1
    endStreams()
    running.push(timers.setTimeout(() => {
      lifetimes.stopAll()
      running.push(timers.setTimeout(() => {
        app.server.closeAllConnections()
        resolveTimedOut()
      }, LAST_BYTES_MS))
    }, requestsMs))
    done()
  })
  app.addHook('onClose', async () => {
    // A session's request may run on without a connection: its client reconnects to another replica and gets
    // the answer there.
    await Promise.race([lifetimes.settled(), timedOut])
    for (const timer of running) timers.clear(timer)
    await closeRest()
  })
  return {
    get unreadyReason () { return unreadyReason },
    get isRefusing () { return isRefusing },
    turnUnready () { unreadyReason = SHUTTING_DOWN },
    async drain (ms = timeoutMs) {
      unreadyReason = SHUTTING_DOWN
      requestsMs = ms
      await timers.pause(drainMs)
      isRefusing = true
      await timers.pause(REFUSING_MS)
    }
  }
}
