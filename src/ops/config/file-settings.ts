// The settings of large files.

import { FILES_URL_FORM, isFilesUrl } from '../../files/url-schemes.ts'
import { integer, oneOf, text, type Setting } from './setting-kinds.ts'

export interface LargeFileSettings {
  /** `undefined`: a folder beside the state, or one that ends with the process. */
  readonly filesUrl: string | undefined
  /** Whether a link is served without an access token. */
  readonly filesToken: 'optional' | 'required'
  readonly maxFileBytes: number
  readonly maxOwnerFileBytes: number
  readonly maxEmbeddedBytes: number
}

/** A storage takes 58 GiB in one file. */
const MAX_BYTES = 53_687_091_200

export const FILE_SETTINGS: { readonly [K in keyof LargeFileSettings]: Setting<LargeFileSettings[K]> } = {
  filesUrl: {
    variable: 'TRIVET_FILES_URL', fallback: undefined, kind: text(FILES_URL_FORM, { test: isFilesUrl })
  },
  filesToken: {
    variable: 'TRIVET_FILES_TOKEN', fallback: 'optional', kind: oneOf(['optional', 'required'] as const)
  },
  maxFileBytes: {
    variable: 'TRIVET_MAX_FILE_BYTES', fallback: 268_435_456, kind: integer(1024, MAX_BYTES)
  },
  maxOwnerFileBytes: {
    variable: 'TRIVET_MAX_OWNER_FILE_BYTES', fallback: 2_147_483_648, kind: integer(1024, 1_099_511_627_776)
  },
  maxEmbeddedBytes: {
    variable: 'TRIVET_MAX_EMBEDDED_BYTES', fallback: 1_048_576, kind: integer(1024, 268_435_456)
  }
}

/** Calls `read` for each setting. */
export function collectFileSettings (
  read: <K extends keyof LargeFileSettings>(key: K) => LargeFileSettings[K]
): LargeFileSettings {
  return {
    filesUrl: read('filesUrl'),
    filesToken: read('filesToken'),
    maxFileBytes: read('maxFileBytes'),
    maxOwnerFileBytes: read('maxOwnerFileBytes'),
    maxEmbeddedBytes: read('maxEmbeddedBytes')
  }
}
