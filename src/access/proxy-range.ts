// The notation of trusted proxies.

import { isIP } from 'node:net'

const NAMES = ['loopback', 'linklocal', 'uniquelocal']

/** Whether a text is an IP address, a range of addresses such as 10.0.0.0/8, or the name of such ranges. */
export function isProxyRange (text: string): boolean {
  const [, address = '', bits = '1'] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const family = isIP(address)
  const maxBits = family === 4 ? 32 : 128
  return NAMES.includes(text) || (family !== 0 && Number(bits) >= 1 && Number(bits) <= maxBits)
}
