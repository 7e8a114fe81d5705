// What the identity provider gave with a grant: tokens, which are sealed in its record, and the claims of the
// person. One replica at a time renews them: a refresh token of the provider may count once.

import { clock, timers } from '../../../base/time.ts'
import { AuthenticationUnavailable } from '../../../platform/access/authentication.ts'
import type { Claims } from '../../../platform/access/claims.ts'
import type { Principal } from '../../../platform/access/principal.ts'
import { createServerGuard } from '../../../platform/access/server-guard.ts'
import { isObject, parseJson } from '../../../platform/protocol/json-rpc.ts'
import { retryOutage } from '../../../platform/store/records/lost-replies.ts'
import type { StateStore } from '../../../platform/store/records/state-store.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import {
  SignInRefused, type IdentityProvider, type SignedInPerson
} from '../people/identity-provider.ts'
import { recognize, RULE_BROKEN, type PeopleRules, type Person } from '../people/people.ts'
import type { GrantRecord, GrantRecords, ProviderState } from './grant-records.ts'

export interface ProviderTokensOptions {
  readonly store: StateStore
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
  readonly grants: GrantRecords
  readonly identityProvider: Pick<IdentityProvider, 'issuer' | 'renew'>
  readonly rules: PeopleRules
  readonly log: { warn (fields: object, message: string): void }
  /** How long a grant lives even if it is used, in milliseconds. */
  readonly maxAgeMs: number
}

interface Vouched extends SignedInPerson {
  /** The time at which the provider vouched for the person, in milliseconds since the epoch. */
  readonly vouchedAt: number
  /** The time of the claims. They are older where the provider could not be asked for them. */
  readonly claimsAt: number
}

interface VouchedGrant { readonly record: GrantRecord, readonly vouched: Vouched }

class SealedElsewhere extends AuthenticationUnavailable {}

export type ProviderTokenStore = ReturnType<typeof createProviderTokens>

const PURPOSE = 'tokens of the identity provider'
const SIGNS_IN_AGAIN = 'a person has to sign in again: what the identity provider gave cannot be opened'
const CLAIMS_KEPT = 'the identity provider renews tokens and gives no claims: those from before count'
/** The provider is not asked again within this time, in milliseconds: a request may be a repetition. */
const RECENT_MS = 10_000
/** A replica that is lost while it renews holds up the others for so long, in milliseconds. */
const LEASE_MS = 15_000
const MAX_LEASES = 100_000
const LOOK_MS = 200
/** How long a renewal of another replica is waited for, and new tokens are written, in milliseconds. */
const PATIENCE_MS = 8000
const WRITING = { firstMs: 20, maxMs: 500, forMs: PATIENCE_MS }
/** Clocks of replicas differ. A token is renewed this long before it expires, in milliseconds. */
const MARGIN_MS = 120_000
const COOLDOWN_MS = 5000
/** How long claims count where the provider renews tokens and cannot be asked for claims. */
const CLAIMS_MAX_AGE_MS = 4 * 3_600_000
/** How long a grant lives where the provider cannot be asked whether the person may still come in. */
const UNCHECKED_MAX_AGE_MS = 7 * 86_400_000

export function createProviderTokens (
  { store, sealer, grants, identityProvider, rules, log, maxAgeMs }: ProviderTokensOptions
) {
  const createGuard = () => createServerGuard({
    cooldownMs: COOLDOWN_MS,
    patienceMs: PATIENCE_MS,
    now: clock.monotonic,
    holders: 'principal',
    isFailure: (error) => error instanceof AuthenticationUnavailable
  })
  const [guardTokens, guardClaims] = [createGuard(), createGuard()]

  function toPerson (claims: Claims): Person | undefined {
    return recognize(claims, identityProvider.issuer, rules, (reason) => {
      log.warn({ subject: claims['sub'], reason }, RULE_BROKEN)
    })
  }

  function seal (id: string, endsAt: number, vouched: Vouched): ProviderState {
    return { sealed: sealer.seal(PURPOSE, id, Buffer.from(JSON.stringify(vouched)), endsAt) }
  }

  /**
   * Throws a SealedElsewhere if a secret that was removed, or one of another replica, has sealed them, or if
   * another release has given them a form that this one does not know.
   */
  function open (id: string, { provider }: GrantRecord): Vouched {
    const bytes = sealer.open(PURPOSE, id, provider.sealed)
    if (bytes === undefined) throw new SealedElsewhere('no secret opens the tokens of a grant')
    const vouched = parseJson(String(bytes))
    if (!isVouched(vouched)) throw new SealedElsewhere('the tokens of a grant have an unknown form')
    return vouched
  }

  /** Asks the provider, which may take the old refresh token back. Resolves to `undefined` if it refuses. */
  async function ask (id: string, { record, vouched: before }: VouchedGrant): Promise<Vouched | undefined> {
    let latest = record.provider
    /** Another replica may have taken over after a pause of this process. Its tokens are as good. */
    async function write (vouched: Vouched): Promise<void> {
      const [expected, provider] = [latest, seal(id, record.endsAt, vouched)]
      await retryOutage(async () => await grants.change(id, (current) => (
        current.provider.sealed === expected.sealed ? { ...current, provider } : undefined
      )), WRITING)
      latest = provider
    }
    const vouched = await renew(id, before, write).catch((error: unknown) => {
      if (!(error instanceof SignInRefused)) throw error
    })
    if (vouched === undefined || toPerson(vouched.claims) === undefined) {
      await retryOutage(async () => await grants.remove(id), WRITING)
      return undefined
    }
    await write(vouched)
    return vouched
  }

  async function renew (
    id: string, before: Vouched, write: (vouched: Vouched) => Promise<void>
  ): Promise<Vouched> {
    const { refreshToken = '' } = before.tokens
    const { tokens, identify } = await guardTokens(
      async () => await identityProvider.renew(refreshToken, before), id
    )
    // The one before may not count any more, whatever happens next.
    if (tokens.refreshToken !== refreshToken) await write({ ...before, tokens })
    const now = clock.now()
    try {
      return { ...await guardClaims(identify, id), tokens, vouchedAt: now, claimsAt: now }
    } catch (error) {
      const isOld = now - before.claimsAt > CLAIMS_MAX_AGE_MS
      if (isOld || !(error instanceof AuthenticationUnavailable)) throw error
      log.warn({ subject: before.claims['sub'], reason: error.message }, CLAIMS_KEPT)
      return { ...before, tokens, vouchedAt: now }
    }
  }

  /** Resolves to `undefined` if the grant has ended. Rejects with an AuthenticationUnavailable. */
  async function renewUnless (
    id: string, isGood: (vouched: Vouched) => boolean
  ): Promise<Vouched | undefined> {
    const key = { owner: 'sign-in-renewals', name: id }
    const isDone = (vouched: Vouched) => vouched.tokens.refreshToken === undefined || isGood(vouched)
    const until = clock.monotonic() + PATIENCE_MS
    for (;;) {
      const before = await find(id)
      if (before === undefined || isDone(before.vouched)) return before?.vouched
      const lease = await store.create(key, { bytes: Buffer.alloc(0) }, { idleMs: LEASE_MS }, MAX_LEASES)
      if (typeof lease === 'object') {
        try {
          // Another replica may have renewed them since.
          const current = await find(id)
          return current === undefined || isDone(current.vouched) ? current?.vouched : await ask(id, current)
        } finally {
          // Only its own lease: a paused process may have lost it.
          await store.replace(key, lease.version, lease.value, { idleMs: 1 }).catch(() => {})
        }
      }
      if (clock.monotonic() > until) throw new AuthenticationUnavailable('another replica renews the tokens')
      await timers.pause(LOOK_MS)
    }
  }

  async function find (id: string): Promise<VouchedGrant | undefined> {
    const record = await grants.read(id)
    return record && { record, vouched: open(id, record) }
  }

  return {
    /** Returns what the record of a new grant has of the provider. */
    begin (id: string, { tokens, ...identity }: SignedInPerson): Pick<GrantRecord, 'endsAt' | 'provider'> {
      const now = clock.now()
      const mayAsk = tokens.refreshToken !== undefined
      const endsAt = now + (mayAsk ? maxAgeMs : Math.min(maxAgeMs, UNCHECKED_MAX_AGE_MS))
      return { endsAt, provider: seal(id, endsAt, { ...identity, tokens, vouchedAt: now, claimsAt: now }) }
    },

    /**
     * Lets the provider say again that the person may come in, where it gave a refresh token. Ends the grant
     * and resolves to `undefined` if it does not. If what the provider gave cannot be opened it resolves so
     * too, and the person signs in again. Rejects with an AuthenticationUnavailable.
     */
    async vouch (id: string): Promise<Person | undefined> {
      const vouched = await renewUnless(id, ({ vouchedAt }) => {
        const ageMs = clock.now() - vouchedAt
        return ageMs >= 0 && ageMs < RECENT_MS
      }).catch((error: unknown) => {
        if (!(error instanceof SealedElsewhere)) throw error
        log.warn({ reason: error.message }, SIGNS_IN_AGAIN)
        return undefined
      })
      // A secret may be removed after all tokens were refreshed: the first one seals what no renewal does.
      if (vouched !== undefined && vouched.tokens.refreshToken === undefined) {
        await grants.change(id, (record) => ({ ...record, provider: seal(id, record.endsAt, vouched) }))
      }
      return vouched && toPerson(vouched.claims)
    },

    /** Resolves to what the provider gave to the person, renewed if it has expired. */
    read: async (id: string): Promise<Vouched | undefined> => await renewUnless(id, isUnexpired)
  }
}

/** Checks what this release reads. Members that it does not know may have any value. */
function isVouched (value: unknown): value is Vouched {
  if (!isObject(value)) return false
  const { tokens, claims, vouchedAt, claimsAt } = value
  return isObject(tokens) && typeof tokens.accessToken === 'string' && isObject(claims) &&
    typeof vouchedAt === 'number' && typeof claimsAt === 'number'
}

function isUnexpired ({ tokens: { expiresAt }, vouchedAt }: Vouched): boolean {
  if (expiresAt === undefined) return true
  return clock.now() < expiresAt - Math.min(MARGIN_MS, (expiresAt - vouchedAt) / 2)
}

/** Returns the grant of a principal that came with a token of this service. */
export function grantOf ({ claims }: Principal): string | undefined {
  const grant = claims?.['grant']
  return typeof grant === 'string' ? grant : undefined
}
