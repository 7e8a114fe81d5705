// Finds the addresses of a host, and refuses those that a request may not go to. A connection goes to an
// address that was checked, because the check and the connection share one look-up.

import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { isReachable } from '../../base/addresses.ts'

/** Resolves a host to all of its addresses. */
export type ResolveHost = (
  host: string, options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void
) => void

/** The host has an address that no request may go to. */
export class AddressRefused extends Error {}

type LookupCallback = (
  error: Error | null, address: string | LookupAddress[], family?: number
) => void

/** One address that is refused refuses all: a name that leads to both is not what its author meant. */
export function createCheckedLookup (allowPrivate: boolean, resolveHost: ResolveHost = lookup) {
  return (host: string, options: LookupOptions, callback: LookupCallback): void => {
    resolveHost(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '')
      const refused = addresses.find(({ address }) => !isReachable(address, allowPrivate))
      const [first] = addresses
      if (refused !== undefined || first === undefined) {
        const why = refused === undefined
          ? 'no address'
          : `the address ${refused.address}${allowPrivate ? '' : ', and allowPrivate is not set'}`
        return callback(new AddressRefused(`${host} has ${why}`), '')
      }
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
