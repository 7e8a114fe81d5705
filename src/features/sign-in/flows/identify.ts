// Finds out who has come back from the identity provider, and whether this person may come in.

import { Limit } from '../../../platform/limits/limits.ts'
import type { StateStore } from '../../../platform/store/records/state-store.ts'
import type { Claims } from '../../../platform/access/claims.ts'
import { FLOW_SECONDS } from '../engine/metadata.ts'
import type { EngineLog } from '../engine/engine-log.ts'
import {
  SignInRefused, type IdentityProvider, type Passage, type ProviderTokens
} from '../people/identity-provider.ts'
import { recognize, RULE_BROKEN, type PeopleRules, type Person } from '../people/people.ts'

export interface RefusedArrival {
  readonly kind: 'refused'
  readonly by: 'provider' | 'rules'
  /** For the log. */
  readonly reason: string
}

export type Arrival = RefusedArrival | {
  readonly kind: 'person'
  readonly person: Person
  readonly claims: Claims
  readonly tokens: ProviderTokens
}

export type Identify = ReturnType<typeof createIdentify>

export function createIdentify (
  identityProvider: IdentityProvider, rules: PeopleRules, store: Pick<StateStore, 'create' | 'delete'>,
  log: Pick<EngineLog, 'warn'>
) {
  const { max } = new Limit('signIns')

  /**
   * Asks the provider once for each way: it is no target for strangers, and a code counts once. Resolves to
   * `undefined` for a way that has been asked for. Rejects with an AuthenticationUnavailable.
   * @param query of the URL that the person came back to.
   */
  return async (query: string, passage: Passage): Promise<Arrival | undefined> => {
    const key = { owner: 'sign-in-arrivals', name: passage.state }
    const claim = await store.create(key, { bytes: Buffer.alloc(0) }, { idleMs: FLOW_SECONDS * 1000 }, max)
    if (claim === 'taken') return undefined
    try {
      const { claims, tokens } = await identityProvider.end(query, passage)
      const person = recognize(claims, identityProvider.issuer, rules, (reason) => {
        log.warn({ subject: claims['sub'], reason }, RULE_BROKEN)
      })
      if (person !== undefined) return { kind: 'person', person, claims, tokens }
      return { kind: 'refused', by: 'rules', reason: 'the rules of sign-in.yaml admit no such person' }
    } catch (error) {
      if (!(error instanceof SignInRefused)) {
        await store.delete(key)
        throw error
      }
      return { kind: 'refused', by: 'provider', reason: error.message }
    }
  }
}
