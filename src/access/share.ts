// The share of a limit that one network or one principal may use. All callers together have the whole limit.

import { networkOf, type Sender } from './network.ts'
import { isAnonymous, ownerOf } from './principal.ts'

/** The share of a network, a tenth, rounded up. Anybody can have several addresses. */
export function shareOf (limit: number): number {
  return Math.ceil(limit / 10)
}

/** The share of a principal, a half, rounded up: it may be a gateway with many users. */
export function principalShareOf (limit: number): number {
  return Math.ceil(limit / 2)
}

/**
 * Who uses a share: a principal, or the network of an anonymous sender. `undefined` for an anonymous sender
 * that no share limits.
 */
export function shareholderOf (sender: Sender): string | undefined {
  return isAnonymous(sender.principal) ? networkOf(sender) : ownerOf(sender.principal)
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
