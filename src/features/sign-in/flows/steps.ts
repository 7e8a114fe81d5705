// Where a person goes from a page, or from the identity provider.

import type { Consent } from './consents.ts'
import type { Cookie } from './cookies.ts'
import type { RefusedArrival } from './identify.ts'

/**
 * Why a person sees the consent page once more: something has changed in between, or the remembered consent
 * is that of another person.
 */
export type Repetition = 'change' | 'person'

export interface ConsentQuestion {
  readonly kind: 'ask'
  readonly consent: Consent
  /** For the form of the page. */
  readonly token: string
  readonly why?: string
}

/** How many sign-ins have ended so, for the operator. */
export type Outcomes = ReturnType<typeof createOutcomes>

export const createOutcomes = () => ({
  finished: 0, cancelled: 0, refused: 0, not_admitted: 0, too_many_grants: 0, lost: 0, unavailable: 0
})

export type Step = { readonly cookies?: readonly Cookie[] } & (
  | { readonly kind: 'go', readonly url: string, readonly outcome?: 'finished' | 'cancelled' }
  | ConsentQuestion
  /** The flow has ended, or it is one of another browser. */
  | { readonly kind: 'lost' }
  /** @param url where the person can end some. */
  | { readonly kind: 'too many grants', readonly url: string, readonly again: string }
  | Refused
)

export interface Refused extends RefusedArrival {
  /** Where the person can try again. */
  readonly again: string
  /** Where the client learns of the refusal. */
  readonly back?: string
}
