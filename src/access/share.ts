// The share of a limit that one network may use. All anonymous callers together have the whole limit.

/** A tenth, rounded up. */
export function shareOf (limit: number): number {
  return Math.ceil(limit / 10)
}

/** One network has used its share. For the log: clients get an error of the limit. */
export class ShareUsed extends Error {
  constructor (network: string, share: number) {
    super(
      `${network} has reached its share, a tenth of the limit: ${share}. ` +
      'If this is the address of a proxy, name the proxy in TRIVET_TRUSTED_PROXIES'
    )
    this.name = 'ShareUsed'
  }
}
