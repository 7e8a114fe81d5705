// Prepares the requests for each contender, and checks the first answers.

import { createChecks } from '../requests/answers.mjs'
import { createRings, forServer, openSessions } from '../requests/rings.mjs'
import { checkAnswers } from './saturate.mjs'

/**
 * @param {object[]} contenders with their `server`
 * @param {{ method: string, toolCount: number, ids: string }} requests see `createRings`
 * @param {(contender: object) => void} leaveOut gets a peer that answers wrongly, with the `reason`
 * @returns {Promise<object[]>} the contenders that serve the method, with `rings`
 */
export async function prepareTargets (contenders, requests, leaveOut) {
  const shared = createRings(requests)
  const ready = []
  for (const contender of contenders.filter((one) => servesMethod(one, requests.method))) {
    const { url } = contender.server
    try {
      const rings = await ringsFor(contender, requests, shared)
      await checkAnswers({ url, rings }, createChecks(requests.toolCount, contender))
      ready.push({ ...contender, rings })
    } catch (error) {
      if (contender.isPeer !== true) throw error
      leaveOut({ ...contender, reason: error.message })
    }
  }
  return ready
}

export function servesMethod ({ methods = [] }, method) {
  return methods.length === 0 || methods.includes(method)
}

/** Opens sessions first if the contender serves only an earlier revision. */
export async function ringsFor ({ server, isLegacy = false, ownParams }, requests, shared) {
  const isShared = !isLegacy && ownParams === undefined
  if (isShared) return forServer(shared)
  const sessions = isLegacy ? await openSessions(server.url) : undefined
  return forServer(createRings({ ...requests, sessions, ownParams }))
}
