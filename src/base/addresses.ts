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
  if (isIP(address) === 0) return false
  return [address, ...embeddedIn(address)].some((candidate) => has(INSIDE, candidate))
}

/** Addresses that belong to no server on the internet, beside those inside: RFC 6890 and its updates. */
const RESERVED = toBlockList([
  '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24',
  '240.0.0.0/4', '::/96', '::ffff:0:0:0/96', '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64', '2001::/23',
  '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16', 'fec0::/10'
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

/** The public prefix of IPv4 addresses that a translator reaches: RFC 6052. */
const TRANSLATED = toBlockList(['64:ff9b::/96'])

/**
 * Whether a request may go to an address: any host name may, because its addresses are checked later.
 * @param allowPrivate whether addresses of this machine and of private networks are allowed.
 */
export function isReachable (host: string, allowPrivate: boolean): boolean {
  const address = withoutBrackets(host)
  if (isIP(address) === 0) return true
  const embedded = embeddedIn(address)
  if (has(TRANSLATED, address)) return embedded.every((candidate) => isReachable(candidate, allowPrivate))
  if (has(NEVER, address) || embedded.some((candidate) => has(NEVER, candidate))) return false
  return allowPrivate || !(has(INSIDE, address) || has(RESERVED, address))
}

/** Where the bytes of an IPv4 address are in the IPv6 addresses of a prefix. */
const EMBEDDED: ReadonlyArray<readonly [prefix: string, ...places: ReadonlyArray<readonly number[]>]> = [
  // Compatible and translated addresses, and the public prefix of translators: RFC 4291, 2765 and 6052.
  ['::/96', [12, 13, 14, 15]],
  ['::ffff:0:0:0/96', [12, 13, 14, 15]],
  ['64:ff9b::/96', [12, 13, 14, 15]],
  // A translator's prefix within the local one has 48, 56, 64 or 96 bits: RFC 6052, section 2.2.
  ['64:ff9b:1::/48', [6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]],
  // 6to4: RFC 3056.
  ['2002::/16', [2, 3, 4, 5]],
  // Teredo: RFC 4380. The address of the client has its bits inverted.
  ['2001::/32', [4, 5, 6, 7], [12, 13, 14, 15]]
]
const TEREDO = toBlockList(['2001::/32'])
const PREFIXES = EMBEDDED.map(([prefix, ...places]) => ({ list: toBlockList([prefix]), places }))
/** The other bytes of an address with a shorter prefix are zero: they are no address of a host. */
const ZEROS = toBlockList(['0.0.0.0/8'])

/** Returns the IPv4 addresses that an IPv6 address may stand for at a translator or the end of a tunnel. */
function embeddedIn (address: string): string[] {
  if (isIP(address) !== 6) return []
  const places = PREFIXES.find(({ list }) => has(list, address))?.places ?? []
  if (places.length === 0) return []
  const bytes = toGroups(address).flatMap(toBytes)
  const mask = has(TEREDO, address) ? 255 : 0
  const embedded = places.map((place) => place.map((at) => (bytes[at] ?? 0) ^ (at > 11 ? mask : 0)).join('.'))
  return has(TRANSLATED, address) ? embedded : embedded.filter((candidate) => !has(ZEROS, candidate))
}

/** Returns the eight groups of an IPv6 address. The URL parser writes an address in one way only. */
export function toGroups (address: string): readonly string[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]`)
  const [head = [], tail = []] = hostname.slice(1, -1).split('::').map(
    (part) => part.split(':').filter((group) => group !== '')
  )
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}

/** Returns the two bytes of a group. */
export function toBytes (group: string): readonly number[] {
  const number = Number.parseInt(group, 16)
  return [number >> 8, number & 255]
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
