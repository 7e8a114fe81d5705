// The notation of trusted proxies.

import { BlockList, isIP } from 'node:net'

const RANGES: { readonly [name: string]: readonly string[] } = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
}

/** Whether a text is an IP address, a range of addresses such as 10.0.0.0/8, or the name of such ranges. */
export function isProxyRange (text: string): boolean {
  const [, address = '', bits = '1'] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  const maxBits = family === 4 ? 32 : 128
  return Object.hasOwn(RANGES, text) || (family !== 0 && Number(bits) >= 1 && Number(bits) <= maxBits)
}

/** @param ranges are proxy ranges. An IPv4 address within an IPv6 address is the IPv4 address. */
export function createRangeCheck (ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const range of ranges.flatMap((text) => RANGES[text] ?? [text])) {
    const [address = '', bits] = range.split('/')
    const family = familyOf(address)
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}

function familyOf (address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
