// Whether this replica can serve requests, and which of its parts cannot.

import type { FastifyInstance } from 'fastify'
import { messageOf } from '../base/words.ts'

export interface Health {
  /** Why load balancers should send no new requests to this replica; `undefined` while they should. */
  readonly unreadyReason: string | undefined
}

/** The state of one part of the service, for operators. */
export interface ServicePart {
  readonly name: string
  readonly ready: boolean
  /** Why the part is not ready. */
  readonly reason?: string
  readonly [detail: string]: unknown
}

/** A part that requests need, such as the state store. */
export interface CheckedPart {
  /** The result of the last check. `undefined` before the first one. */
  readonly wasReady: boolean | undefined
  check (): Promise<ServicePart>
}

export interface Readiness {
  isReady (): Promise<boolean>
  /** Every part. */
  parts (): Promise<ServicePart[]>
}

/** @param run rejects if the part is not available now. */
export function createCheckedPart (name: string, run: () => Promise<void>): CheckedPart {
  let wasReady: boolean | undefined
  return {
    get wasReady () { return wasReady },
    async check () {
      try {
        await run()
        wasReady = true
        return { name, ready: true }
      } catch (error) {
        wasReady = false
        return { name, ready: false, reason: messageOf(error) }
      }
    }
  }
}

/**
 * The parts are not checked during a shutdown: they may be closed already.
 * @param parts those of this moment
 */
export function createReadiness (health: Health, parts: () => readonly CheckedPart[]): Readiness {
  async function checkAll (): Promise<ServicePart[]> {
    return await Promise.all(parts().map(async (part) => await part.check()))
  }

  return {
    async isReady () {
      return health.unreadyReason === undefined && (await checkAll()).every(({ ready }) => ready)
    },
    async parts () {
      const { unreadyReason: reason } = health
      return reason === undefined ? await checkAll() : [{ name: 'process', ready: false, reason }]
    }
  }
}

/**
 * Registers routes for the platform that runs the container. They reveal nothing of the service and need no
 * token.
 */
export function registerHealthRoutes (app: FastifyInstance, readiness: Pick<Readiness, 'isReady'>): void {
  // Some load balancers check with HEAD.
  const options = { logLevel: 'silent', exposeHeadRoute: true } as const
  app.get('/livez', options, () => ({ status: 'ok' }))
  app.get('/readyz', options, async (_, reply) => {
    return await readiness.isReady() ? { status: 'ok' } : reply.code(503).send({ status: 'unready' })
  })
}
