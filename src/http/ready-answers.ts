// Lists as whole answers: clients number their requests, and ask for the lists with the first of them.

import { toResultResponse, type RequestId } from '../protocol/json-rpc.ts'

/** Lower ids are those of a client that has just come. */
const FIRST_IDS = 8
/** Of a larger result there are no further copies: its answers are put together each time. */
const MAX_BYTES = 262_144

/** By the result, with which they go: a list's is that of a catalog's snapshot. */
const answers = new WeakMap<Buffer, Map<RequestId, Buffer>>()

/** The response to a request. Its bytes may be those of other requests' responses, too: nobody may change them. */
export function toReadyResponse (id: RequestId, result: string | Buffer): string | Buffer {
  if (typeof result === 'string' || typeof id === 'string' || id < 0 || id >= FIRST_IDS || result.length > MAX_BYTES) return toResultResponse(id, result)
  const known = answers.get(result) ?? new Map<RequestId, Buffer>()
  const ready = known.get(id)
  if (ready !== undefined) return ready
  const response = toResultResponse(id, result)
  answers.set(result, known.set(id, response))
  return response
}
