// The addresses that only this machine can reach.

import type { AddressInfo } from 'node:net'

/** Whether only this machine can reach an address or a host name. */
export function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** Whether only this machine can reach the address that a server listens on. */
export function isLocal (address: AddressInfo | string | null): boolean {
  return typeof address === 'object' && address !== null && isLoopback(address.address)
}
