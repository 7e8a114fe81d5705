// What clients set in their sessions: kept in the store, where a client uses it at all, and known here for a
// while.

import { isObject } from '../protocol/json-rpc.ts'
import { isLogLevel } from '../protocol/log-levels.ts'
import { pauseBefore } from '../state/backoff.ts'
import { JsonValue, readJson } from '../state/json-value.ts'
import type { StateKey, StateStore, StateValue } from '../state/state-store.ts'
import { createRecent } from './recent.ts'
import type { SessionRelay, SessionSettingsRecord } from './session-relay.ts'
import type { Session } from './session.ts'

export interface SessionSettings {
  /** As they are, or as they were a moment ago. Keeps the record from expiring. */
  read (session: Session): Promise<SessionSettingsRecord>
  /** Atomic: what two replicas change at once is changed by both. Known to all replicas when it resolves. */
  update (session: Session, change: (settings: SessionSettingsRecord) => SessionSettingsRecord): Promise<void>
  delete (session: Session): Promise<void>
  close (): void
}

export interface SessionSettingsOptions {
  /** How long the record of a session outlives its last use, in milliseconds. */
  readonly idleMs: number
  onError (error: unknown): void
  readonly now?: () => number
}

const NONE: SessionSettingsRecord = { version: 0, uris: [] }
const MAX_ATTEMPTS = 20
const RECENT = { max: 1000, idleMs: 30_000 }
/** After this time the record is read again, which keeps it from expiring. */
const FRESH_MS = 60_000
const never = new AbortController().signal

interface Known { readonly at: number, readonly settings: Promise<SessionSettingsRecord> }

export function createSessionSettings (
  store: StateStore, relay: SessionRelay, { idleMs, onError, now = Date.now }: SessionSettingsOptions
): SessionSettings {
  const recent = createRecent<string, Known>(RECENT)
  const stopListening = relay.listen((message) => {
    if (message.type === 'session-changed') note(message.session, message.settings)
    if (message.type === 'session-ended') recent.delete(message.session)
  }, () => recent.clear())

  /** What is on its way from the store may be older, and two messages may have passed each other. */
  function note (session: string, settings: SessionSettingsRecord): void {
    const newest = async (before: SessionSettingsRecord) => before.version > settings.version
      ? before
      : settings
    const known = recent.get(session)?.settings ?? Promise.resolve(settings)
    recent.set(session, { at: now(), settings: known.then(newest, () => settings) })
  }

  async function load (session: Session): Promise<SessionSettingsRecord> {
    const record = await store.read(toKey(session))
    return record === undefined ? NONE : readSettings(record.value)
  }

  /** `undefined` where somebody else was faster. */
  async function attempt (
    session: Session, change: (settings: SessionSettingsRecord) => SessionSettingsRecord
  ): Promise<SessionSettingsRecord | undefined> {
    const key = toKey(session)
    const record = await store.read(key)
    const before = record === undefined ? NONE : readSettings(record.value)
    const settings = { ...change(before), version: before.version + 1 }
    const value = new JsonValue(settings)
    const written = record === undefined
      ? await store.create(key, value, { idleMs, endsAt: session.expiresAt }, 1)
      : await store.replace(key, record.version, value)
    return typeof written === 'object' ? settings : undefined
  }

  return {
    async read (session) {
      const known = recent.get(session.id)
      if (known !== undefined && now() - known.at < FRESH_MS) return await known.settings
      const settings = load(session)
      recent.set(session.id, { at: now(), settings })
      settings.catch(() => recent.delete(session.id))
      return await settings
    },
    async update (session, change) {
      for (let tried = 0; tried < MAX_ATTEMPTS; tried++) {
        const settings = await attempt(session, change)
        if (settings !== undefined) {
          return await relay.send({ type: 'session-changed', session: session.id, settings }).catch(onError)
        }
        await pauseBefore(tried, never)
      }
      throw new Error(
        'the settings of a session were changed by others each time that they were to be changed'
      )
    },
    async delete (session) {
      recent.delete(session.id)
      await store.delete(toKey(session))
    },
    close () {
      stopListening()
      recent.close()
    }
  }
}

/** Each session is an owner of its own, so that in a cluster they do not all lie in one place. */
function toKey ({ id }: Session): StateKey {
  return { owner: `session-${id}`, name: 'settings' }
}

/** Written by us, but perhaps by another release. */
function readSettings (value: StateValue): SessionSettingsRecord {
  const body = readJson(value)
  const { version, logLevel, uris } = isObject(body) ? body : {}
  return {
    version: typeof version === 'number' ? version : 0,
    ...(isLogLevel(logLevel) && { logLevel }),
    uris: Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
  }
}
