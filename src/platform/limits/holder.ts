// The holder of a share of a limit: a principal, or the network of an anonymous sender. All anonymous callers
// are one owner, so each of their networks may use only its share.

import { isIP } from 'node:net'
import { isAnonymous, ownerOf, type Principal } from '../access/principal.ts'
import { toBytes, toGroups } from '../../base/addresses.ts'

/** The principal that sent a request, and its address. */
export interface Sender {
  readonly principal: Principal
  /** The IP address. Absent for a transport without addresses. */
  readonly address?: string | undefined
}

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

/** Stands for all addresses that are not IP addresses, so that nobody gains a share by inventing one. */
const UNKNOWN = 'unknown'
/** Some proxies add the port. */
const PORT = /^\[(.*)\](?::\d+)?$|^([^:]*):\d+$/

/**
 * Returns an IPv4 address, or the first half of an IPv6 address, as text: a client of IPv6 usually has all
 * addresses that begin with the same half. `undefined` if no share limits the sender: it has a name, or is on
 * this machine (a developer or a local proxy), or has no address (an embedding program).
 */
export function networkOf (sender: Sender): string | undefined {
  // The address is read only here: a transport may have to parse headers for it.
  const address = isAnonymous(sender.principal) ? sender.address : undefined
  if (address === undefined) return undefined
  // A pattern takes twice the time, and nearly all addresses have neither brackets nor a port.
  if (isIP(address) !== 0) return toNetwork(address)
  const [, bracketed, bare] = PORT.exec(address) ?? []
  return toNetwork(bracketed ?? bare ?? address)
}

function toNetwork (address: string): string | undefined {
  switch (isIP(address)) {
    case 4: return address.startsWith('127.') ? undefined : address
    case 6: return toIPv6Network(toGroups(address))
    default: return UNKNOWN
  }
}

function toIPv6Network (groups: readonly string[]): string | undefined {
  const text = groups.join(':')
  if (text === '0:0:0:0:0:0:0:1') return undefined
  return text.startsWith('0:0:0:0:0:ffff:')
    ? toNetwork(groups.slice(6).flatMap(toBytes).join('.'))
    : `${groups.slice(0, 4).join(':')}::/64`
}
