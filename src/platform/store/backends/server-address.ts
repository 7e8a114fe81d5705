// The hosts of TRIVET_STATE_URL, and what operators read when a start ends because of them.

export interface ServerHost {
  /** A name or an address. */
  readonly host: string
  readonly port: number
}

const HOST_FORM = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i

/** Reads a host with its port, or without. `undefined` for any other text. The port may be out of bounds. */
export function readHost (text: string, defaultPort: number): ServerHost | undefined {
  const [, bracketed, plain, port = defaultPort] = HOST_FORM.exec(text) ?? []
  const host = bracketed ?? plain
  return host === undefined ? undefined : { host, port: Number(port) }
}

export function isPort (port: number): boolean { return port >= 1 && port <= 65_535 }

export function toPlaces (hosts: readonly ServerHost[]): string {
  return hosts.map(({ host, port }) => `${host}:${port}`).join(', ')
}

/** @param reasons why, for operators. The message of the cause by default. */
export function toStartError (problem: string, cause: Error, reasons = [cause.message]): Error {
  const advice = 'Start it, or correct the setting'
  return new Error(`TRIVET_STATE_URL: ${problem} (${reasons.join(', ')}). ${advice}`, { cause })
}
