// What a catalog's handler sees of its request: the narrow side of the request context.

import type { Principal } from '../access/principal.ts'
import type { Context, Log, ReadContext } from '../authoring/context.ts'
import type { LogLevel } from '../protocol/log-levels.ts'
import type { RequestContext, RequestLog } from './request-context.ts'

/** Where changes are published. */
export type Notify = Context['notify']

/** What every method that runs a catalog's code is given. */
export interface HandlerOptions {
  /** How long the code may take where nothing else is said. */
  readonly requestTimeoutMs: number
  readonly notify: Notify
}

/** Eight levels of the protocol, four of the service's log. */
const SERVICE_LEVELS: { readonly [L in LogLevel]: keyof RequestLog } = {
  debug: 'debug', info: 'info', notice: 'info', warning: 'warn', error: 'error', critical: 'error', alert: 'error', emergency: 'error'
}

export class HandlerContext implements Context {
  readonly #request: RequestContext
  readonly notify: Notify

  constructor (request: RequestContext, notify: Notify) {
    this.#request = request
    this.notify = notify
  }

  get signal (): AbortSignal { return this.#request.signal }
  get principal (): Principal { return this.#request.principal }
  get revision (): string { return this.#request.envelope.revision }
  get requestId (): string { return this.#request.requestId }

  get client (): Context['client'] {
    const { clientInfo, clientCapabilities } = this.#request.envelope
    return { info: clientInfo, capabilities: clientCapabilities }
  }

  get log (): Log {
    const at = (level: LogLevel): Log[LogLevel] => (message, data) => {
      this.#request.log[SERVICE_LEVELS[level]]({ ...data }, message)
      this.#request.tell(level, message, data)
    }
    return {
      debug: at('debug'),
      info: at('info'),
      notice: at('notice'),
      warning: at('warning'),
      error: at('error'),
      critical: at('critical'),
      alert: at('alert'),
      emergency: at('emergency')
    }
  }

  progress (done: number, total?: number, message?: string): void {
    this.#request.progress(done, total, message)
  }
}

export class HandlerReadContext extends HandlerContext implements ReadContext {
  readonly uri: string

  constructor (request: RequestContext, notify: Notify, uri: string) {
    super(request, notify)
    this.uri = uri
  }
}
