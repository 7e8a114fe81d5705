// Sessions that their clients have ended: what was sealed for them must open nothing any more, on any
// replica.

import type { StateStore } from '../state/state-store.ts'
import type { SessionRelay } from './session-relay.ts'
import type { Session } from './session.ts'

export interface EndedSessions {
  has (id: string): boolean
  /**
   * Resolves when no replica will serve it any more. Rejects with a StoreUnavailable where that is not sure.
   */
  add (session: Session): Promise<void>
  close (): void
}

const OWNER = 'ended-sessions'
const NOTHING = { bytes: Buffer.alloc(0) }
/**
 * An end is remembered until the session would have ended by itself. This many at most: whoever ends more is
 * up to no good.
 */
const MAX_ENDED = 200_000
const SWEEP_MS = 60_000

/** Resolves when those that ended before are known. */
export async function openEndedSessions (
  store: StateStore, relay: SessionRelay,
  { onError, now = Date.now }: { onError (error: unknown): void, now?: () => number }
): Promise<EndedSessions> {
  const ended = new Map<string, number>()
  const note = (id: string, expiresAt: number) => {
    const [oldest] = ended.keys()
    if (ended.size >= MAX_ENDED && oldest !== undefined) ended.delete(oldest)
    ended.set(id, expiresAt)
  }
  const noteAll = async () => { for (const [id, expiresAt] of await store.list(OWNER)) note(id, expiresAt) }
  const stopListening = relay.listen((message) => {
    if (message.type === 'session-ended') note(message.session, message.expiresAt)
  }, () => { noteAll().catch(onError) })
  const timer = setInterval(() => {
    for (const [id, expiresAt] of ended) if (expiresAt <= now()) ended.delete(id)
  }, SWEEP_MS).unref()

  await noteAll()
  return {
    has: (id) => ended.has(id),
    async add ({ id, expiresAt }) {
      // First what lasts: a replica that does not hear of it now reads it then.
      await store.create(
        { owner: OWNER, name: id }, NOTHING, { idleMs: Math.max(expiresAt - now(), 1), endsAt: expiresAt },
        MAX_ENDED
      )
      await relay.send({ type: 'session-ended', session: id, expiresAt }).catch(onError)
    },
    close () {
      stopListening()
      clearInterval(timer)
    }
  }
}
