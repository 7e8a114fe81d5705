// Addresses as people and sockets write them.

import { isIP, type AddressInfo } from 'node:net'

/** Whether only this machine can reach an address or a host name. */
export function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** Whether only this machine can reach the address that a server listens on. */
export function isLocal (address: AddressInfo | string | null): boolean {
  return typeof address === 'object' && address !== null && isLoopback(address.address)
}

/**
 * Whether a text is an IP address, a range of addresses such as 10.0.0.0/8, or the name of such ranges. The
 * parser of Fastify would take `1` for 0.0.0.1, and zones and netmasks too.
 */
export function isProxyRange (text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const [, address = '', bits = '1'] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const maxBits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  return Number(bits) >= 1 && Number(bits) <= maxBits
}
