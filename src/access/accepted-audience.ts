// The audiences that tokens must have: names of this service at its authorization servers.

export interface AcceptedAudience {
  /** The issuer whose tokens may have it. Absent: all issuers that have no audience of their own. */
  readonly issuer?: string
  readonly audience: string
}

/** Throws a TypeError if the issuer has none. */
export function audiencesOf (issuer: string, accepted: readonly AcceptedAudience[]): string[] {
  const own = accepted.filter((entry) => entry.issuer === issuer)
  const used = own.length > 0 ? own : accepted.filter((entry) => entry.issuer === undefined)
  if (used.length === 0) throw new TypeError(`no audience is accepted from ${issuer}`)
  return used.map(({ audience }) => audience)
}
