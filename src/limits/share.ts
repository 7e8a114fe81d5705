// The share of a limit that one network or one principal may use. All callers together have the whole limit.

import { isAnonymous, ownerOf } from '../access/principal.ts'
import { networkOf, type Sender } from './network.ts'

/** A principal, or the network of anonymous senders. */
export interface Shareholder { readonly kind: 'principal' | 'network', readonly name: string }

/** Anybody can have several addresses. A principal may be a gateway with many users. */
const DIVISORS = { principal: 2, network: 10 }

/** A tenth for a network, a half for a principal. Rounded up. */
export function shareOf (limit: number, kind: Shareholder['kind'] = 'network'): number {
  return Math.ceil(limit / DIVISORS[kind])
}

/** `undefined` for an anonymous sender that no share limits. */
export function shareholderOf (sender: Sender): Shareholder | undefined {
  if (!isAnonymous(sender.principal)) return { kind: 'principal', name: ownerOf(sender.principal) }
  const network = networkOf(sender)
  return network === undefined ? undefined : { kind: 'network', name: network }
}

/** One network has used its share. For the log: clients get an error of the limit. */
export class ShareUsed extends Error {
  constructor (network: string, share: number) {
    super(
      `${network} has reached its share of the limit: ${share}. ` +
      'If this is the address of a proxy, name the proxy in TRIVET_TRUSTED_PROXIES'
    )
    this.name = 'ShareUsed'
  }
}
