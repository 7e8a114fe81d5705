// Who holds a share of a limit: a principal, or the network of an anonymous sender.

import { isAnonymous, ownerOf } from '../access/principal.ts'
import { networkOf, type Sender } from './network.ts'

export type HolderKind = 'principal' | 'network' | 'all'

export interface Holder {
  readonly kind: 'principal' | 'network'
  /** The owner that stands for the principal, or the address of the network. */
  readonly name: string
}

/** Returns `undefined` for an anonymous sender that no share limits. */
export function holderOf (sender: Sender): Holder | undefined {
  if (!isAnonymous(sender.principal)) return { kind: 'principal', name: ownerOf(sender.principal) }
  const network = networkOf(sender)
  return network === undefined ? undefined : { kind: 'network', name: network }
}
