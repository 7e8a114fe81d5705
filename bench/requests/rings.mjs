// Prepares requests as bytes. Each connection has some hundreds of its own requests in a ring, and sends the
// first again after the last.

import { toBytes } from '../load/wire.mjs'
import { createParams } from './arguments.mjs'
import { ID_MIXES } from './ids.mjs'
import { legacyRequest, modernRequest, openSession } from './messages.mjs'
import { createRandom } from './random.mjs'

export const CONNECTIONS = 32
export const REQUESTS_EACH = 512
const SEED = 20_260_728

/** The number of requests in ten, by method, if methods are mixed. */
export const MIX = { 'tools/list': 1, 'tools/call': 6, 'prompts/get': 1, 'resources/read': 2 }
const MIXED = Object.entries(MIX).flatMap(([method, share]) => new Array(share).fill(method))

/**
 * Makes the same requests for every server, except a server with its own tools.
 *
 * @param {object} options
 * @param {string} options.method a method, or `mix`
 * @param {number} options.toolCount
 * @param {string} options.ids
 * @param {(string | undefined)[]} [options.sessions] one for each connection, if the requests are of an
 *   earlier revision
 * @param {Record<string, (random: (below: number) => number) => object>} [options.ownParams] functions by
 *   method that make the params for a server with its own tools
 * @returns {{ requests: object[], bytes: Buffer[] }[]} one ring for each connection
 */
export function createRings ({ method, toolCount, ids, sessions, ownParams }) {
  const shared = Object.keys(MIX).map((one) => [one, createParams(one, toolCount)])
  const makers = { ...Object.fromEntries(shared), ...ownParams }
  const methods = method === 'mix' ? MIXED : [method]
  return Array.from({ length: CONNECTIONS }, (_, connection) => {
    const random = createRandom(SEED + connection)
    return toRing(Array.from({ length: REQUESTS_EACH }, (_, place) => {
      const id = ID_MIXES[ids](place, random)
      const one = methods[random(methods.length)]
      const params = makers[one](random)
      if (sessions === undefined) return modernRequest(one, params, id)
      return legacyRequest(one, params, id, sessions[connection])
    }))
  })
}

export function toRing (requests) {
  return { requests, bytes: requests.map(toBytes) }
}

/**
 * The same rings with state for one server: `next`, the place of the next request, `lengths`, the lengths of
 * the answers by place, and `answered`, the number of answers.
 */
export function forServer (rings) {
  return rings.map((ring) => (
    { ...ring, next: 0, lengths: new Int32Array(ring.bytes.length), answered: 0 }
  ))
}

/** Opens a session for each connection, all at once: fastmcp takes a second for each handshake. */
export async function openSessions (url) {
  return Promise.all(Array.from({ length: CONNECTIONS }, () => openSession(url)))
}
