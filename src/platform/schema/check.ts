// The check of a value against a schema of any kind, and its verdict.

/** A verdict names at most this many problems. */
export const MAX_PROBLEMS = 8

export type Verdict =
  | { readonly ok: true, readonly value: unknown }
  /**
   * One sentence for each problem, written for a reader who can act on it. A library's check has all places
   * of problems: paths of names, joined by slashes.
   */
  | { readonly ok: false, readonly problems: readonly string[], readonly places?: ReadonlySet<string> }

/** Checks a value. The accepted value may differ from the given one: defaults and transforms change it. */
export type Check = (value: unknown) => Verdict | Promise<Verdict>

export const accepted = (value: unknown): Verdict => ({ ok: true, value })

export const refused = (problems: readonly string[], places?: ReadonlySet<string>): Verdict => (
  { ok: false, problems, ...(places !== undefined && { places }) }
)
