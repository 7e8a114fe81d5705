// The settings that clients change in their sessions. The store has a record only for sessions that changed a
// setting. Each replica remembers recently read settings for a while.

import { LRUCache } from 'lru-cache'
import { pauseBefore } from '../../../base/retry.ts'
import { clock } from '../../../base/time.ts'
import { Limit, ShareUsed } from '../../../platform/limits/limits.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { isLogLevel } from '../../../platform/protocol/log-levels.ts'
import { JsonValue, readJson } from '../../../platform/store/records/json-value.ts'
import { createShares } from '../../../platform/store/records/shares.ts'
import type {
  StateKey, StateRecord, StateStore, StateValue
} from '../../../platform/store/records/state-store.ts'
import { ChangeQueue, type SettingsChange } from './change-queue.ts'
import type { SessionMessages, SessionSettingsRecord } from './session-messages.ts'
import type { Session } from './session.ts'

export interface SessionSettings {
  /** The settings may be a moment old. Reading them regularly keeps the record from expiring. */
  read (session: Session): Promise<SessionSettingsRecord>
  /**
   * Atomic: no change is lost when two replicas update at once. When it resolves, the change is stored and
   * the replicas that can be reached know it. Rejects with a ProtocolError if the settings of too many
   * sessions of the principal are kept.
   */
  update (session: Session, change: SettingsChange): Promise<void>
  delete (session: Session): Promise<void>
  close (): void
}

interface SessionSettingsOptions {
  /** How long the record of a session is kept after its last use, in milliseconds. */
  readonly idleMs: number
  onError (error: unknown): void
  readonly now?: () => number
  /** About how many sessions of one principal can have settings. 100,000 by default. */
  readonly maxPerOwner?: number
}

const MAX_UPDATE_ATTEMPTS = 20
const MAX_RECENT = 2000
/** After this time the record is read from the store again, which keeps it from expiring: at most this. */
const MAX_REREAD_AFTER_MS = 60_000
/** All anonymous callers are one principal. */
const MAX_PER_OWNER = 100_000
/** The sessions of one principal are in so many groups. */
const GROUPS = 64
const neverAborted = new AbortController().signal

interface RecentSettings { readonly at: number, readonly settings: Promise<SessionSettingsRecord> }

export function createSessionSettings (
  store: StateStore, messages: SessionMessages, options: SessionSettingsOptions
): SessionSettings {
  const { idleMs, onError, now = clock.now, maxPerOwner = MAX_PER_OWNER } = options
  const maxPerGroup = Math.ceil(maxPerOwner / GROUPS)
  const rereadAfterMs = Math.min(MAX_REREAD_AFTER_MS, idleMs / 4)
  const limit = new Limit('sessionSettings', maxPerOwner)
  const shares = createShares(store, 'session-settings', limit.shareOf('network'))
  const recent = new LRUCache<string, RecentSettings>({ max: MAX_RECENT })
  const stopListening = messages.listen((message) => {
    if (message.type === 'session-changed') remember(message.session, message.settings)
    if (message.type === 'session-ended') recent.delete(message.session)
  }, () => recent.clear())

  /**
   * Keeps the newer version: a read of the store that is still under way may return an older one, and two
   * messages may arrive in the wrong order.
   */
  function remember (session: string, settings: SessionSettingsRecord): void {
    const newest = async (before: SessionSettingsRecord) => before.version > settings.version
      ? before
      : settings
    const before = recent.get(session)?.settings ?? Promise.resolve(settings)
    recent.set(session, { at: now(), settings: before.then(newest, () => settings) })
  }

  const changes = new ChangeQueue(async (session, apply) => {
    for (let tried = 0; tried < MAX_UPDATE_ATTEMPTS; tried++) {
      const settings = await attempt(session, apply)
      if (settings === 'nothing') return
      if (settings !== 'conflict') {
        const message = { type: 'session-changed', session: session.id, settings } as const
        return await messages.send(message).catch(onError)
      }
      await pauseBefore(tried, neverAborted)
    }
    throw new Error(
      `the settings of a session were changed by other replicas during ${MAX_UPDATE_ATTEMPTS} attempts`
    )
  })

  async function attempt (
    session: Session, apply: (settings: SessionSettingsRecord) => SessionSettingsRecord | undefined
  ): Promise<SessionSettingsRecord | 'nothing' | 'conflict'> {
    const key = toKey(session)
    const record = await store.read(key)
    const before = readSettings(record)
    const applied = apply(before)
    if (applied === undefined) return 'nothing'
    const settings = { ...applied, version: before.version + 1 }
    const value = new JsonValue(settings)
    const outcome = record === undefined
      ? await create(session, value)
      : await store.replace(key, record.version, value)
    if (outcome === 'full') throw limit.refusal('principal')
    return typeof outcome === 'object' ? settings : 'conflict'
  }

  async function create (session: Session, value: StateValue): Promise<StateRecord | 'taken' | 'full'> {
    const lifetime = { idleMs, endsAt: session.expiresAt }
    try {
      return await shares.create(session.network, toKey(session), value, lifetime, maxPerGroup)
    } catch (error) {
      throw error instanceof ShareUsed ? limit.refusal('network', error.network) : error
    }
  }

  return {
    async read (session) {
      const cached = recent.get(session.id)
      if (cached !== undefined && now() - cached.at < rereadAfterMs) return await cached.settings
      const settings = store.read(toKey(session)).then(readSettings)
      recent.set(session.id, { at: now(), settings })
      settings.catch(() => recent.delete(session.id))
      return await settings
    },
    update: async (session, change) => await changes.add(session, change),
    async delete (session) {
      recent.delete(session.id)
      await shares.delete(session.network, toKey(session))
    },
    close: stopListening
  }
}

/**
 * The owner of the record is the principal and a group of its sessions, so that the store can limit their
 * number. A Redis cluster spreads the groups over its nodes. A session id is random: its first character is
 * the group.
 */
function toKey ({ id, owner }: Session): StateKey {
  return { owner: `session-settings-${owner}-${id.slice(0, 1)}`, name: id }
}

/** Checks each member: another release may have written the record. */
function readSettings (record: StateRecord | undefined): SessionSettingsRecord {
  const body = record && readJson(record.value)
  const { version, logLevel, uris } = isObject(body) ? body : {}
  return {
    version: typeof version === 'number' ? version : 0,
    ...(isLogLevel(logLevel) && { logLevel }),
    uris: Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
  }
}
