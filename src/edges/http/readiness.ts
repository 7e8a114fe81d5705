// Whether this replica can serve requests, and which of its parts cannot.

import type { FastifyInstance } from 'fastify'
import { messageOf } from '../../base/words.ts'

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

/** The state of all parts, for operators. */
export interface HealthReport {
  /** Whether new requests can be served. */
  readonly ready: boolean
  readonly parts: readonly ServicePart[]
}

/** A part that requests need, such as the state store. */
export class CheckedPart {
  readonly #name: string
  readonly #run: () => Promise<object | void>

  /** @param run rejects if the part is not available now. Resolves to more facts for operators, if any. */
  constructor (name: string, run: () => Promise<object | void>) {
    this.#name = name
    this.#run = run
  }

  async check (): Promise<ServicePart> {
    try {
      const facts = await this.#run()
      return { ...facts, name: this.#name, ready: true }
    } catch (error) {
      return { name: this.#name, ready: false, reason: messageOf(error) }
    }
  }
}

/** The parts are not checked during a shutdown: they may be closed already. */
export class Readiness {
  readonly #health: Health
  readonly #parts: () => readonly CheckedPart[]

  /** @param parts those of this moment */
  constructor (health: Health, parts: () => readonly CheckedPart[]) {
    this.#health = health
    this.#parts = parts
  }

  async isReady (): Promise<boolean> {
    return (await this.parts()).every(({ ready }) => ready)
  }

  /** Checks every part. */
  async parts (): Promise<ServicePart[]> {
    const { unreadyReason: reason } = this.#health
    if (reason !== undefined) return [{ name: 'process', ready: false, reason }]
    return await Promise.all(this.#parts().map(async (part) => await part.check()))
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
