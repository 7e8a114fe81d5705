// Why a request ends before its handler has.

/** The handler took longer than it may. Its signal has aborted. */
export class HandlerTimeout extends Error {
  readonly timeoutMs: number

  constructor (timeoutMs: number) {
    super(`stopped after ${timeoutMs} ms`)
    this.name = 'TimeoutError'
    this.timeoutMs = timeoutMs
  }
}

/** The client has said that it no longer wants the result: it is sent none. */
export class RequestCancelled extends Error {
  constructor () {
    super('The client cancelled the request')
    this.name = 'AbortError'
  }
}

/** The client is gone, or the service is going down. */
export class RequestAborted extends Error {
  constructor (message: string) {
    super(message)
    this.name = 'AbortError'
  }
}
