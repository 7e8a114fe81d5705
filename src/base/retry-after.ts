// When another server wants to be asked again.

import { clock } from './time.ts'

const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Returns the time to wait that `Retry-After` says, in milliseconds. `undefined` without a valid value. RFC
 * 9110, section 10.2.3.
 */
export function readRetryAfter (value: string | undefined): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  return DATE.test(text) ? Math.max(0, Date.parse(text) - clock.now()) : undefined
}
