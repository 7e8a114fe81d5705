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

export type Step = { readonly cookies?: readonly Cookie[] } & (
  | { readonly kind: 'go', readonly url: string }
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
