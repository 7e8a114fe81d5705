// The log of one request: that of the service, with the request's id on each line.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace'

/** Most requests have nothing to say: a logger of its own is made for one that does. */
export const createRequestLogger: FastifyInstance['childLoggerFactory'] = (logger, bindings, options) => (
  options.level === undefined && options.serializers === undefined ? new RequestLogger(logger, bindings) : logger.child(bindings, options)
)

class RequestLogger implements FastifyBaseLogger {
  readonly #service: FastifyBaseLogger
  readonly #bindings: object
  #own: FastifyBaseLogger | undefined

  constructor (service: FastifyBaseLogger, bindings: object) {
    this.#service = service
    this.#bindings = bindings
  }

  get level (): string { return (this.#own ?? this.#service).level }
  set level (level: string) { this.#made.level = level }

  fatal (...args: unknown[]): void { this.#write('fatal', args) }
  error (...args: unknown[]): void { this.#write('error', args) }
  warn (...args: unknown[]): void { this.#write('warn', args) }
  info (...args: unknown[]): void { this.#write('info', args) }
  debug (...args: unknown[]): void { this.#write('debug', args) }
  trace (...args: unknown[]): void { this.#write('trace', args) }
  silent (): void {}

  child (...args: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#made.child(...args)
  }

  get #made (): FastifyBaseLogger {
    this.#own ??= this.#service.child(this.#bindings)
    return this.#own
  }

  #write (level: Level, args: unknown[]): void {
    Reflect.apply(this.#made[level], this.#made, args)
  }
}
