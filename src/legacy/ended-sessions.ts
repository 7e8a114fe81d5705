// The sessions that their clients have ended. A session id is a sealed token that stays valid until it
// expires, so every replica must know which ids to refuse.

import type { StateStore } from '../state/state-store.ts'
import type { SessionRelay } from './session-relay.ts'
import type { Session } from './session.ts'

export interface EndedSessions {
  has (id: string): boolean
  /**
   * Resolves when the end is stored and the replicas that can be reached know it. Rejects with a
   * StoreUnavailable if the end could not be stored.
   */
  add (session: Session): Promise<void>
  close (): void
}

const OWNER = 'ended-sessions'
const EMPTY_VALUE = { bytes: Buffer.alloc(0) }
/**
 * An end is remembered until the session would have expired. This limit bounds memory: clients that behave
 * do not reach it.
 */
const MAX_ENDED = 200_000
const REMOVE_EXPIRED_EVERY_MS = 60_000

/** Resolves when the sessions that ended before are loaded from the store. */
export async function openEndedSessions (
  store: StateStore, relay: SessionRelay,
  { onError, now = Date.now }: { onError (error: unknown): void, now?: () => number }
): Promise<EndedSessions> {
  const ended = new Map<string, number>()
  const remember = (id: string, expiresAt: number) => {
    const [oldest] = ended.keys()
    if (ended.size >= MAX_ENDED && oldest !== undefined) ended.delete(oldest)
    ended.set(id, expiresAt)
  }
  const loadAll = async () => {
    for (const [id, expiresAt] of await store.list(OWNER)) remember(id, expiresAt)
  }
  const stopListening = relay.listen((message) => {
    if (message.type === 'session-ended') remember(message.session, message.expiresAt)
  }, () => { loadAll().catch(onError) })
  const timer = setInterval(() => {
    for (const [id, expiresAt] of ended) if (expiresAt <= now()) ended.delete(id)
  }, REMOVE_EXPIRED_EVERY_MS).unref()

  await loadAll()
  return {
    has: (id) => ended.has(id),
    async add ({ id, expiresAt }) {
      // The store first: a replica that misses the message loads the end from the store later.
      const lifetime = { idleMs: Math.max(expiresAt - now(), 1), endsAt: expiresAt }
      await store.create({ owner: OWNER, name: id }, EMPTY_VALUE, lifetime, MAX_ENDED)
      await relay.send({ type: 'session-ended', session: id, expiresAt }).catch(onError)
    },
    close () {
      stopListening()
      clearInterval(timer)
    }
  }
}
