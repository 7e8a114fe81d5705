// The sessions that their clients have ended. A session id is a sealed token that stays valid until it
// expires, so every replica must know which ids to refuse.

import { clock, timers } from '../../../base/time.ts'
import { Limit, ShareUsed } from '../../../platform/limits/limits.ts'
import { createLocalListeners } from '../../../platform/store/changes/local-listeners.ts'
import { createShares, EMPTY_VALUE } from '../../../platform/store/records/shares.ts'
import { untilAvailable } from '../../../platform/store/records/start-wait.ts'
import type { StateRecord, StateStore } from '../../../platform/store/records/state-store.ts'
import type { SessionMessages } from './session-messages.ts'
import { holderIn, type Session } from './session.ts'

export interface EndedSessions {
  has (id: string): boolean
  /** Calls the listener once with the id of each session that any replica ends from now on. */
  onEnd (listener: (id: string) => void): void
  /**
   * Resolves when the end is stored and the replicas that can be reached know it. Rejects with a
   * StoreUnavailable if the end could not be stored, and with a ProtocolError if too many ends are stored.
   */
  add (session: Session): Promise<void>
  close (): void
}

interface EndedSessionsOptions {
  onError (error: unknown): void
  readonly now?: () => number
  /** How many ends are remembered. 200,000 by default. */
  readonly maxEnded?: number
  /** How many ends of the sessions of one principal are remembered. 100,000 by default. */
  readonly maxPerOwner?: number
  /** Ends the wait for a store that is away, when it aborts. */
  readonly signal?: AbortSignal
}

const OWNER = 'ended-sessions'
const MAX_PER_OWNER = 100_000
const REMOVE_EXPIRED_EVERY_MS = 60_000

/** Resolves when the sessions that ended before are loaded from the store. */
export async function openEndedSessions (
  store: StateStore, messages: SessionMessages,
  { onError, now = clock.now, maxEnded, maxPerOwner = MAX_PER_OWNER, signal }: EndedSessionsOptions
): Promise<EndedSessions> {
  const expiries = new Map<string, number>()
  const listeners = createLocalListeners<string>()
  const limit = new Limit('endedSessions', maxEnded, { perPrincipal: maxPerOwner })
  const shares = {
    network: createShares(store, OWNER, limit.shareOf('network')),
    principal: createShares(store, `${OWNER}-of-principals`, limit.shareOf('principal'))
  }

  async function create (session: Session): Promise<StateRecord | 'taken' | 'full'> {
    const { id, expiresAt } = session
    const { kind, name } = holderIn(session) ?? { kind: 'network' }
    const lifetime = { idleMs: Math.max(expiresAt - now(), 1), endsAt: expiresAt }
    const key = { owner: OWNER, name: id }
    try {
      return await shares[kind].create(name, key, EMPTY_VALUE, lifetime, limit.max)
    } catch (error) {
      if (!(error instanceof ShareUsed)) throw error
      throw limit.refusal(kind, kind === 'network' ? name : undefined)
    }
  }

  const remember = (id: string, expiresAt: number) => {
    if (expiries.has(id)) return
    expiries.set(id, expiresAt)
    try {
      listeners.tell(id)
    } catch (error) {
      onError(error)
    }
  }
  const loadAll = async () => {
    for (const [id, expiresAt] of await store.list(OWNER)) remember(id, expiresAt)
  }
  const stopListening = messages.listen((message) => {
    if (message.type === 'session-ended') remember(message.session, message.expiresAt)
  }, () => { loadAll().catch(onError) })
  const timer = timers.setInterval(() => {
    for (const [id, expiresAt] of expiries) if (expiresAt <= now()) expiries.delete(id)
  }, REMOVE_EXPIRED_EVERY_MS).unref()

  const close = () => {
    stopListening()
    listeners.close()
    timers.clear(timer)
  }
  await untilAvailable(loadAll, signal).catch((error: unknown) => {
    close()
    throw error
  })
  return {
    has: (id) => expiries.has(id),
    onEnd (listener) { listeners.add(listener) },
    async add (session) {
      const { id, expiresAt } = session
      // The store first: a replica that misses the message loads the end from the store later.
      if (await create(session) === 'full') throw limit.refusal('all')
      await messages.send({ type: 'session-ended', session: id, expiresAt }).catch(onError)
    },
    close
  }
}
