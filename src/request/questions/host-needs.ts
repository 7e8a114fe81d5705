// What single hosts need of a question beyond the specification, by the name in their `clientInfo`. A name is
// not verified: nothing of this may give a right.

import { random } from '../../base/time.ts'
import type { Implementation } from '../../platform/protocol/primitives.ts'

/**
 * Copilot CLI 1.0 speaks 2026-07-28, and reads a question by URL only with the `elicitationId` of earlier
 * revisions: without it, its model gets the unread JSON. The schema allows further members.
 */
const NEED_ELICITATION_ID: ReadonlySet<string> = new Set(['copilot-cli'])

/**
 * Returns the input requests as the client can read them.
 * @param requests JSON by key.
 * @param toId makes the id of a question. Another one each time by default.
 */
export function toHostRequests (
  requests: ReadonlyMap<string, string>, client: Implementation | undefined,
  toId: (key: string) => string = () => random.uuid()
): ReadonlyMap<string, string> {
  if (client === undefined || !NEED_ELICITATION_ID.has(client.name)) return requests
  return new Map(Array.from(requests, ([key, json]) => {
    const request: { params: object } = JSON.parse(json)
    const isUrl = 'mode' in request.params && request.params.mode === 'url'
    const params = isUrl ? { ...request.params, elicitationId: toId(key) } : request.params
    return [key, JSON.stringify({ ...request, params })]
  }))
}
