// Where the engine keeps what it must remember. Clients and refresh tokens are sealed, grants are records of
// their own, sessions are not kept. What is left are codes and half-finished flows.

import { hash } from 'node:crypto'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import { clock } from '../../../base/time.ts'
import { Limit, ShareUsed } from '../../../platform/limits/limits.ts'
import { newMark, retryOutage } from '../../../platform/store/records/lost-replies.ts'
import { createShares } from '../../../platform/store/records/shares.ts'
import { StoreUnavailable, type StateStore } from '../../../platform/store/records/state-store.ts'
import type { GrantRecords } from '../grants/grant-records.ts'
import type { RefreshTokens } from './refresh-tokens.ts'
import type { Registrations } from './registrations.ts'

export interface EngineAdapterOptions {
  readonly store: StateStore
  readonly grants: GrantRecords
  readonly registrations: Registrations
  readonly refreshTokens: RefreshTokens
  /** Makes the error for a token that does not count any more. */
  readonly toInvalidGrant: (reason: string) => Error
  /** Makes the error for an assertion of a client that counted before. */
  readonly toInvalidClient: (reason: string) => Error
  /** Makes the error for a client that may try the same again later. */
  readonly toUnavailable: (reason: string, cause: unknown) => Error
  /** Returns the network of the request that is served. `undefined` if no share limits it. */
  readonly readNetwork: () => string | undefined
}

/** How long a code counts, in milliseconds, by the clock of the store. */
const CODE_MS = 60_000
/** How long a token is written anew while the store gives no answer, in milliseconds. */
const WRITING = { firstMs: 20, maxMs: 500, forMs: 3000 }

const NOTHING: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  // The record of the grant says what has been used.
  consume: async () => {},
  destroy: async () => {},
  // The grant itself is removed. What names it does not count without it.
  revokeByGrantId: async () => {}
}

export function createEngineAdapters (options: EngineAdapterOptions): (model: string) => Adapter {
  const { grants, registrations, toUnavailable } = options
  const toRecords = createRecordAdapters(options)
  const codes = toRecords('AuthorizationCode', CODE_MS)
  const adapters: { readonly [model: string]: Adapter } = {
    Session: NOTHING,
    Client: { ...NOTHING, find: async (id) => registrations.read(id) },
    Grant: {
      ...NOTHING,
      async upsert (id, payload) { await grants.change(id, (record) => ({ ...record, grant: payload })) },
      async find (id) {
        const record = await grants.read(id)
        return record && { ...record.grant }
      },
      destroy: grants.remove
    },
    AuthorizationCode: {
      ...codes,
      // Its first use makes the first refresh token, in one write.
      async find (code) {
        const payload = await codes.find(code)
        const { refresh } = (payload && await grants.read(String(payload.grantId))) ?? {}
        return payload && { ...payload, ...(refresh !== undefined && { consumed: true }) }
      }
    },
    RefreshToken: createRefreshAdapter(options)
  }
  return (model) => withClearErrors(adapters[model] ?? toRecords(model), toUnavailable)
}

/** The engine would answer each of them as an error of its own. */
function withClearErrors (adapter: Adapter, toUnavailable: EngineAdapterOptions['toUnavailable']): Adapter {
  const guarded = <A extends unknown[], R>(work: (...args: A) => Promise<R>) => async (...args: A) => {
    try {
      return await work(...args)
    } catch (error) {
      if (error instanceof StoreUnavailable) throw toUnavailable('try again', error)
      throw error
    }
  }
  const { upsert, find, destroy } = adapter
  return { ...adapter, upsert: guarded(upsert), find: guarded(find), destroy: guarded(destroy) }
}

function createRefreshAdapter (
  { grants, refreshTokens, toInvalidGrant }: EngineAdapterOptions
): Adapter {
  return {
    ...NOTHING,
    async find (token) {
      const name = refreshTokens.read(token)
      const { refresh: last } = (name && await grants.read(name.grantId)) ?? {}
      if (name === undefined || last === undefined) return undefined
      const { grantId, rotation } = name
      // A token that has been used counts as used, unless its answer may have been lost.
      const counts = rotation === last.rotation ||
        (rotation === last.rotation - 1 && await grants.mayRepeat(grantId, rotation))
      return { ...last.payload, jti: token, rotations: rotation, ...(!counts && { consumed: true }) }
    },
    // One write makes the next token and ends the one before.
    async upsert (token, { jti, ...payload }) {
      const { grantId, rotation } = refreshTokens.read(token) ?? { grantId: '', rotation: 0 }
      if (rotation > 0) await grants.allowRepeat(grantId, rotation - 1)
      let isSecondUse = false
      const next = { rotation, rotatedAt: clock.now(), payload, mark: newMark() }
      const record = await retryOutage(async () => await grants.change(grantId, (record) => {
        const { rotation: last = -1, mark } = record.refresh ?? {}
        // Two uses of a code at the same moment. Those of a refresh token get the same answer.
        isSecondUse = rotation === 0 && last >= 0 && mark !== next.mark
        if (isSecondUse || last === rotation) return undefined
        if (last !== rotation - 1) throw toInvalidGrant('refresh token already used')
        return { ...record, refresh: next }
      }, { isUse: true }), WRITING)
      if (isSecondUse) await grants.remove(grantId)
      if (isSecondUse || record === undefined) throw toInvalidGrant('grant not found')
    }
  }
}

/** Returns what creates adapters of records that expire by themselves. */
function createRecordAdapters (
  { store, toInvalidClient, toUnavailable, readNetwork }: EngineAdapterOptions
) {
  const limit = new Limit('signIns')
  // The store has no code or token that could be used: names are hashes, and values lack the name.
  const toPayload = (id: string, bytes: Buffer): AdapterPayload => ({ ...JSON.parse(String(bytes)), jti: id })
  return (model: string, lifeMs?: number): Adapter => {
    const owner = `sign-in-${model.toLowerCase()}`
    const toKey = (id: string) => ({ owner, name: hash('sha256', id, 'base64url') })
    const shares = createShares(store, owner, limit.shareOf('network'))
    return {
      ...NOTHING,
      async upsert (id, { jti, ...payload }, expiresIn = 0) {
        const [key, value] = [toKey(id), { bytes: Buffer.from(JSON.stringify(payload)) }]
        const lifetime = { idleMs: lifeMs ?? expiresIn * 1000 }
        const isOnce = model === 'ReplayDetection'
        const record = isOnce ? undefined : await store.peek(key)
        if (record !== undefined) {
          if (await store.replace(key, record.version, value, lifetime) !== undefined) return
          throw new Error(`two requests have changed one record of the kind ${model}`)
        }
        try {
          const created = await shares.create(readNetwork(), key, value, lifetime, limit.max)
          if (created === 'full') throw toUnavailable(limit.describe('all'), undefined)
          if (created === 'taken' && isOnce) throw toInvalidClient('client assertions count once')
        } catch (error) {
          if (!(error instanceof ShareUsed)) throw error
          throw toUnavailable(limit.describe('network'), error)
        }
      },
      async find (id) {
        const record = await store.peek(toKey(id))
        return record && toPayload(id, record.value.bytes)
      },
      async destroy (id) { await shares.delete(readNetwork(), toKey(id)) }
    }
  }
}
