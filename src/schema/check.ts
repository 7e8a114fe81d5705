// What every kind of schema comes down to.

export type Verdict =
  | { readonly ok: true, readonly value: unknown }
  /** One sentence for each thing that is wrong, written for a reader who can act on it. */
  | { readonly ok: false, readonly problems: readonly string[] }

/** Judges a value; the accepted value may differ from the given one (defaults, transforms). */
export type Check = (value: unknown) => Verdict | Promise<Verdict>

export const accepted = (value: unknown): Verdict => ({ ok: true, value })

export const refused = (problems: readonly string[]): Verdict => ({ ok: false, problems })
