// A client that sends a request again after a failure of the connection or of the state.

import { setTimeout as pause } from 'node:timers/promises'
import { toPost, type Message, type RequestParts } from '../helpers/request.ts'

interface Posted { readonly status: number, readonly response: Message }

/** Resolves to the first answer. Rejects if there is none within this time, in milliseconds. */
export async function postAgain (url: string, parts: RequestParts, withinMs = Infinity): Promise<Posted> {
  const { headers, body } = toPost(parts)
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) })
      const response: Message = await answer.json()
      if (answer.status < 500 && response.error?.code !== 503) return { status: answer.status, response }
    } catch {
      // The replica was killed.
    }
    if (performance.now() > deadline) throw new Error(`no answer within ${withinMs} ms`)
    await pause(100)
  }
}
