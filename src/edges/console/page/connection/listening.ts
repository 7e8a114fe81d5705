// The stream of notifications: one `subscriptions/listen` request, which is sent again when it ends.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

import { effect, signal, untracked } from '@preact/signals'
import { caller, bearerToken } from './caller.ts'
import { readState } from './console-state.ts'
import { describeFailure } from './json.ts'
import { request, type ServiceNotification } from './request.ts'

/** A notification with the time when it came, in milliseconds since 1970. */
export interface StreamNotice extends ServiceNotification { readonly id: number, readonly at: number }

const MAX_NOTICES = 200
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

/** The newest first. */
export const notices = signal<readonly StreamNotice[]>([])

/** `undefined` while the stream is open. Otherwise why it is not. */
export const listeningProblem = signal<string | undefined>('The stream is not open yet.')

/** The resources whose changes the person wants to hear of. */
export const watchedUris = signal<readonly string[]>([])

export function toggleWatch (uri: string): void {
  const remaining = watchedUris.value.filter((watched) => watched !== uri)
  watchedUris.value = remaining.length < watchedUris.value.length ? remaining : [...remaining, uri]
}

let lastNotice = 0

/** Listens until the page closes. Opens the stream anew for another caller and for other resources. */
export function listen (onNotification: (notification: ServiceNotification) => void): void {
  effect(() => {
    // Another token is another caller.
    const [asCaller, uris] = [caller.value, watchedUris.value, bearerToken.value]
    const abort = new AbortController()
    untracked(() => { keepListening(abort.signal) })
    return () => abort.abort()

    async function keepListening (signal: AbortSignal): Promise<void> {
      let pauseMs = FIRST_PAUSE_MS
      while (!signal.aborted) {
        const problem = await listenOnce(signal, () => { pauseMs = FIRST_PAUSE_MS })
        if (signal.aborted) return
        listeningProblem.value = problem
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
        // The service may be another process by now, which refuses the token of the one before.
        await readState()
      }
    }

    async function listenOnce (signal: AbortSignal, onOpen: () => void): Promise<string> {
      const notifications = {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        ...uris.length > 0 && { resourceSubscriptions: uris }
      }
      try {
        await request('subscriptions/listen', { notifications }, {
          caller: asCaller,
          signal,
          onNotification (notification) {
            if (notification.method === 'notifications/subscriptions/acknowledged') {
              listeningProblem.value = undefined
              onOpen()
              return
            }
            const notice = { id: ++lastNotice, at: Date.now(), ...notification }
            notices.value = [notice, ...notices.value].slice(0, MAX_NOTICES)
            onNotification(notification)
          }
        })
        return 'The service closed the stream.'
      } catch (error) {
        return describeFailure(error)
      }
    }
  })
}
