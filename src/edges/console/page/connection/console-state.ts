// What the service says of its catalog beside the protocol: GET /console/state, once a second.

import { signal } from '@preact/signals'

/** What is wrong with a file of the catalog, or could be better. */
export interface FileProblem {
  readonly file: string
  /** Where in the file, such as `12:3` or `inputSchema.properties.a`. */
  readonly place?: string
  readonly message: string
}

export interface ConsoleState {
  /** The path of the MCP endpoint on this origin. */
  readonly endpoint: string
  /** The version of Trivet. */
  readonly version: string
  /** Names the process. Its sandbox of screens sends it first: another program does not know it. */
  readonly sandboxKey: string
  /**
   * `picked`: the page may choose who calls. `token`: the service checks tokens of an issuer. `desk`: the
   * page may choose, and the token of its choice is checked like those of issuers.
   */
  readonly callers: 'picked' | 'token' | 'desk'
  /** The caller before one is chosen. With `picked`, that of a request without a token. */
  readonly caller: { readonly subject?: string, readonly scopes: readonly string[] }
  /** All scopes that the catalog names. */
  readonly scopes: readonly string[]
  /** The scopes that bring a primitive into the lists, by its key. */
  readonly scoped: { readonly [key: string]: readonly string[] }
  readonly catalog: {
    readonly name: string
    readonly title?: string
    readonly version: string
    /** Milliseconds since 1970. */
    readonly loadedAt: number
    /** Present if the last load failed: the earlier catalog is served. */
    readonly failure?: { readonly at: number, readonly problems: readonly FileProblem[] }
    readonly advice: readonly FileProblem[]
    /** What hosts make of the tools. */
    readonly hosts: readonly FileProblem[]
  }
  /** The file of each primitive, by its key. */
  readonly files: { readonly [key: string]: string }
}

export const consoleState = signal<ConsoleState | undefined>(undefined)

/** Whether the last request for the state was answered. */
export const isServiceReachable = signal(true)

const POLL_MS = 1000

let etag: string | undefined

export async function readState (): Promise<void> {
  try {
    // The document preloads the first state: only a request without options gets that.
    const response = await fetch('/console/state', etag === undefined
      ? {}
      : { cache: 'no-store', headers: { 'if-none-match': etag } })
    if (response.ok) {
      etag = response.headers.get('etag') ?? undefined
      const state: ConsoleState = await response.json()
      consoleState.value = state
    }
    isServiceReachable.value = response.ok || response.status === 304
  } catch {
    isServiceReachable.value = false
  }
}

/** Reads the state once a second while the page is visible. Resolves when it was read the first time. */
export async function watchState (): Promise<void> {
  async function poll (): Promise<void> {
    if (document.visibilityState === 'visible') await readState()
    setTimeout(poll, POLL_MS)
  }

  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') readState()
  })
  await readState()
  setTimeout(poll, POLL_MS)
}
