// A kind of storage: what its URLs look like, and how it is opened.

import type { FileStorage } from './storage.ts'

/** Reads a variable, or the file that the variable with `_FILE` at its end names. Rejects if it cannot. */
export type ReadVariable = (name: string) => Promise<string | undefined>

export interface StorageKind {
  /** Without the colon. */
  readonly scheme: string
  /** The form of its URLs, in words: completes "TRIVET_FILES_URL must be". */
  readonly form: string
  /** Matches the text after the scheme and its colon. `open` may still refuse the URL. */
  readonly rest: RegExp
  /** Whether only processes of one machine share it, unless the folder is on a shared volume. */
  readonly isLocal: boolean
  /** Imports the driver when it is called. Rejects if the storage cannot be used: the message says why. */
  readonly open: (url: string, readVariable: ReadVariable) => Promise<FileStorage>
}
