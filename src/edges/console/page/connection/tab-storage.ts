// Values that a tab keeps over a reload: sessionStorage, which a browser may refuse.

const PREFIX = 'trivet-console:'

/** Returns the kept value, or `undefined` if there is none that can be read. */
export function readOfTab (name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/** Keeps the value if the browser lets it. */
export function keepInTab (name: string, value: unknown): void {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // A private window or a full storage: the page works without it.
  }
}
