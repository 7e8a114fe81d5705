// Where the engine keeps what it must remember. Clients and refresh tokens are sealed, grants are records of
// their own, sessions are not kept. What is left are codes and half-finished flows.

import { hash } from 'node:crypto'
import { errors, Provider, type Adapter, type AdapterPayload } from 'oidc-provider'
import { clock } from '../../../base/time.ts'
import { Limit, ShareUsed } from '../../../platform/limits/limits.ts'
import { newMark, retryOutage } from '../../../platform/store/records/lost-replies.ts'
import { createShares } from '../../../platform/store/records/shares.ts'
import type { StateStore } from '../../../platform/store/records/state-store.ts'
import type { GrantRecords } from '../grants/grant-records.ts'
import type { RefreshTokens } from './refresh-tokens.ts'
import type { Registrations } from './registrations.ts'
import { orUnavailable, unavailable } from './unavailable.ts'

export interface EngineAdapterOptions {
  readonly store: StateStore
  readonly grants: GrantRecords
  readonly registrations: Pick<Registrations, 'read'>
  readonly refreshTokens: RefreshTokens
  /** Returns the network of the request that is served. `undefined` if no share limits it. */
  readonly readNetwork: () => string | undefined
}

/** How long a code counts, in milliseconds, by the clock of the store. */
const CODE_MS = 60_000
/** How long a token is written anew while the store gives no answer, in milliseconds. */
const WRITING = { firstMs: 20, maxMs: 500, forMs: 3000 }

const nothing = async () => undefined
/** The record of a grant says which of its tokens were used. What names a grant does not count without it. */
const NOTHING: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUid: nothing,
  findByUserCode: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing
}

export function createEngineAdapters (options: EngineAdapterOptions): (model: string) => Adapter {
  const { grants, registrations } = options
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
  return (model) => {
    const adapter = adapters[model] ?? toRecords(model)
    return {
      ...adapter,
      upsert: async (...args) => { await orUnavailable(adapter.upsert(...args)) },
      find: async (id) => await orUnavailable(adapter.find(id)),
      destroy: async (id) => { await orUnavailable(adapter.destroy(id)) }
    }
  }
}

function createRefreshAdapter ({ grants, refreshTokens }: EngineAdapterOptions): Adapter {
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
      const payload: AdapterPayload = { ...last.payload }
      leaveOutRepeatedScopes(payload.scope)
      return { ...payload, jti: token, rotations: rotation, ...(!counts && { consumed: true }) }
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
        if (last !== rotation - 1) throw new errors.InvalidGrant('refresh token already used')
        return { ...record, refresh: next }
      }, { isUse: true }), WRITING)
      if (isSecondUse) await grants.remove(grantId)
      if (isSecondUse || record === undefined) throw new errors.InvalidGrant('grant not found')
    }
  }
}

/**
 * Hosts repeat all scopes that they have asked for when they refresh, also those that they did not get. The
 * engine would refuse them, and the person would have to sign in at each refresh.
 */
function leaveOutRepeatedScopes (granted = ''): void {
  const params = Provider.ctx?.oidc.params
  if (typeof params?.['scope'] !== 'string') return
  const scopes = granted.split(' ')
  const names = params['scope'].split(' ').filter((name) => scopes.includes(name))
  // With none of them the engine refuses it.
  if (names.length > 0) params['scope'] = names.join(' ')
}

/** Returns what creates adapters of records that expire by themselves. */
function createRecordAdapters ({ store, readNetwork }: EngineAdapterOptions) {
  const limit = new Limit('signIns')
  // Anybody may begin a flow, and whoever has one network of IPv6 often has all of its neighbours.
  const readSite = () => readNetwork()?.replace(/:[^:]*::\/64$/, '::/48')
  // The store has no code or token that could be used: names are hashes, and values lack the name.
  const toPayload = (id: string, bytes: Buffer): AdapterPayload => ({ ...JSON.parse(String(bytes)), jti: id })
  return (model: string, lifeMs?: number): Adapter => {
    const owner = `sign-in-${model.toLowerCase()}`
    const isOnce = model === 'ReplayDetection'
    const toKey = (id: string) => ({ owner, name: hash('sha256', id, 'base64url') })
    const shares = createShares(store, owner, limit.shareOf('network'))
    return {
      ...NOTHING,
      async upsert (id, { jti, ...payload }, expiresIn = 0) {
        const [key, value] = [toKey(id), { bytes: Buffer.from(JSON.stringify(payload)) }]
        const lifetime = { idleMs: lifeMs ?? expiresIn * 1000 }
        const record = isOnce ? undefined : await store.peek(key)
        if (record !== undefined) {
          if (await store.replace(key, record.version, value, lifetime) !== undefined) return
          throw new Error(`two requests have changed one record of the kind ${model}`)
        }
        const created = await shares.create(readSite(), key, value, lifetime, limit.max)
          .catch((error: unknown) => {
            throw error instanceof ShareUsed ? unavailable(limit.describe('network'), error) : error
          })
        if (created === 'full') throw unavailable(limit.describe('all'))
        if (created === 'taken' && isOnce) throw new errors.InvalidClientAuth('client assertions count once')
      },
      async find (id) {
        const record = await store.peek(toKey(id))
        return record && toPayload(id, record.value.bytes)
      },
      async destroy (id) { await shares.delete(readSite(), toKey(id)) }
    }
  }
}
