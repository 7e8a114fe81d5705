// The bytes of a resource that is a file.

import type { Readable } from 'node:stream'

/** An open file. Close it unless `read` was called. */
export interface OpenedBytes {
  readonly size: number
  /** In milliseconds since 1970. */
  readonly modifiedMs: number
  read (range?: { readonly start: number, readonly end: number }): Readable
  close (): void
}

export interface FileBytes {
  /** When the catalog was loaded. */
  readonly size: number
  readonly name: string
  /** `undefined` if the file is gone. */
  open (): Promise<OpenedBytes | undefined>
}
