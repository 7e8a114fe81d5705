// Addresses as people and sockets write them.

import { BlockList, isIP, type AddressInfo } from 'node:net'

/** Whether only this machine can reach an address or a host name. */
export function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

const INSIDE = new BlockList()
for (const range of [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12',
  '192.168.0.0/16'
]) {
  const [address = '', bits] = range.split('/')
  INSIDE.addSubnet(address, Number(bits), 'ipv4')
}
for (const [address, bits] of [['::', 127], ['fc00::', 7], ['fe80::', 10]] as const) {
  INSIDE.addSubnet(address, bits, 'ipv6')
}

/** Whether an address or a host name, as a URL has it, is of this machine or of a private network. */
export function isInside (host: string): boolean {
  if (/(?:^|\.)localhost\.?$/.test(host)) return true
  const address = host.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(address)
  // IPv4 addresses within IPv6 addresses are checked as IPv4 addresses.
  return family !== 0 && INSIDE.check(address, family === 4 ? 'ipv4' : 'ipv6')
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
