// How many calls may begin in a time, as settings and definitions write it: `100/1m`.

/** The number without a unit is 1: `5/s` is `5/1s`. */
export const RATE_PATTERN = '^[1-9]\\d{0,5}/(?:[1-9]\\d{0,2})?[smhd]$'
export const RATE_FORM = 'a number of calls and a time in s, m, h or d, such as 100/1m'

/** The value of a setting that takes the default rates away. */
export const NO_RATE = 'off'

export interface Rate {
  readonly calls: number
  readonly perMs: number
  /** What refused callers are told. Made when the rate is first used up. */
  sentence?: string
}

const UNIT_MS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** @param text matches RATE_PATTERN. */
export function readRate (text: string): Rate {
  const [calls, time = ''] = text.split('/')
  return { calls: Number(calls), perMs: Number(time.slice(0, -1) || 1) * (UNIT_MS[time.slice(-1)] ?? 0) }
}
