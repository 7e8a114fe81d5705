// The cookies of a browser, by the names that the flows give them.

export interface Cookie {
  readonly name: string
  readonly value: string
  /** How long the browser keeps it, in seconds. 0 removes it. */
  readonly seconds: number
}

export interface Cookies {
  read (name: string): string | undefined
  /** The names that begin so. */
  list (prefix: string): readonly string[]
}

/** Removes a cookie. */
export function toEnd (name: string): Cookie { return { name, value: '', seconds: 0 } }
