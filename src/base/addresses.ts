// Addresses as people and sockets write them.

import { BlockList, isIP, type AddressInfo } from 'node:net'

/** Whether only this machine can reach an address or a host name. */
export function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

const INSIDE = toBlockList([
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12',
  '192.168.0.0/16', '::/127', 'fc00::/7', 'fe80::/10'
])

function toBlockList (ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1')

/** IPv4 addresses within IPv6 addresses are checked as IPv4 addresses. */
function has (list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}

/** Whether an address or a host name, as a URL has it, is of this machine or of a private network. */
export function isInside (host: string): boolean {
  if (/(?:^|\.)localhost\.?$/.test(host)) return true
  const address = withoutBrackets(host)
  return isIP(address) !== 0 && has(INSIDE, address)
}

/** Addresses that belong to no server on the internet, beside those inside: RFC 6890 and its updates. */
const RESERVED = toBlockList([
  '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '240.0.0.0/4', '::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '2002::/16',
  '3fff::/20', 'fec0::/10'
])

/**
 * Addresses that no request of this service may have, also within a private network: of no host, of this
 * link, of groups, and those where clouds tell credentials to their machines.
 */
const NEVER = toBlockList([
  '0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32', '100.100.100.200/32',
  '168.63.129.16/32', '192.0.0.192/32', '::/128', 'fe80::/10', 'ff00::/8', 'fd00:ec2::/32',
  'fd20:ce::254/128'
])

/** The prefix of IPv4 addresses that a translator reaches: RFC 6052. */
const TRANSLATED = toBlockList(['64:ff9b::/96'])

/**
 * Whether a request may go to an address: any host name may, because its addresses are checked later.
 * @param allowPrivate whether addresses of this machine and of private networks are allowed.
 */
export function isReachable (host: string, allowPrivate: boolean): boolean {
  const address = withoutBrackets(host)
  const family = isIP(address)
  if (family === 0) return true
  if (has(TRANSLATED, address)) return isReachable(toTranslated(address), allowPrivate)
  if (has(NEVER, address)) return false
  return allowPrivate || !(has(INSIDE, address) || has(RESERVED, address))
}

/** The IPv4 address in the last 32 bits of an IPv6 address. */
function toTranslated (address: string): string {
  // The URL parser writes an address in one way only: without a dotted part.
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]`)
  const [high = '', low = ''] = hostname.slice(1, -1).split(':').slice(-2)
  const bits = [high, low].map((group) => Number.parseInt(group === '' ? '0' : group, 16))
  return bits.flatMap((group) => [group >> 8, group & 255]).join('.')
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
