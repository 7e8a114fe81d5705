// A batch: the messages of an array, which one revision has. Its requests are served one after another,
// within limits of its time and of the bytes of its answer.
// https://modelcontextprotocol.io/specification/2025-03-26/basic#batching

import { clock } from '../../../base/time.ts'
import { invalidRequest, ProtocolError } from '../../../platform/protocol/errors.ts'
import {
  isObject, isRequest, isResponse, readMessage, readRequestId, toErrorResponse, type Notification,
  type Request
} from '../../../platform/protocol/json-rpc.ts'

/** The messages of an array by their kind. */
interface Batch {
  readonly requests: Request[]
  readonly notifications: Notification[]
  readonly responses: unknown[]
  /** An error response for each malformed message. */
  readonly errorResponses: string[]
}

const MAX_BATCH_MESSAGES = 100
/** No request is begun later than this, in milliseconds, */
const MAX_BATCH_MS = 60_000
/** or after the answers so far have this many bytes. */
const MAX_BATCH_BYTES = 8_388_608

/**
 * Sorts the messages of an array. They are independent: a malformed one gets an error, and the others are
 * served. Throws for an array that is empty or too long.
 */
export function readBatch (bodies: readonly unknown[]): Batch {
  if (bodies.length === 0) throw invalidRequest('the batch is empty')
  if (bodies.length > MAX_BATCH_MESSAGES) {
    throw invalidRequest(`the batch has ${bodies.length} messages, the limit is ${MAX_BATCH_MESSAGES}`)
  }
  const batch: Batch = { requests: [], notifications: [], responses: [], errorResponses: [] }
  for (const body of bodies) {
    try {
      sort(body, batch)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      batch.errorResponses.push(toErrorResponse(readRequestId(body), error))
    }
  }
  return batch
}

function sort (body: unknown, { requests, notifications, responses }: Batch): void {
  if (isObject(body) && isResponse(body)) {
    responses.push(body)
    return
  }
  const message = readMessage(body)
  if (message.method === 'initialize') throw invalidRequest('initialize cannot be part of a batch')
  if (!isRequest(message)) notifications.push(message)
  else if (requests.some(({ id }) => id === message.id)) {
    throw invalidRequest('the id is that of another request of the batch')
  } else requests.push(message)
}

interface BatchServing {
  /** Begins one request. */
  serve (request: Request): void
  /** Answers a request that the limits do not allow to begin. */
  refuse (request: Request): void
}

/** The requests of a batch that wait for their turn. */
export class BatchQueue {
  readonly #requests: Request[]
  readonly #serving: BatchServing
  readonly #startedAt = clock.monotonic()
  #bytes = 0

  constructor (requests: readonly Request[], serving: BatchServing) {
    this.#requests = [...requests]
    this.#serving = serving
  }

  /** Begins the next request, if any. */
  next (): void {
    const request = this.#requests.shift()
    if (request === undefined) return
    const isLate = clock.monotonic() - this.#startedAt > MAX_BATCH_MS
    if (isLate || this.#bytes > MAX_BATCH_BYTES) this.#serving.refuse(request)
    else this.#serving.serve(request)
  }

  /**
   * To be called for each answer, with its bytes. Begins the next request in a later turn of the event loop,
   * so that the requests of other clients are served in between.
   */
  answered (bytes: number): void {
    this.#bytes += bytes
    setImmediate(() => this.next())
  }
}
