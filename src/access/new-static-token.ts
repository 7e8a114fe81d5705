// Makes static tokens.

import { random } from '../base/time.ts'
import type { StaticTokenEntry } from './static-token-file.ts'
import { hashToken } from './token-hash.ts'

export interface NewStaticToken {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly clientId?: string
  readonly expiresAt: Date
}

/** All static tokens begin with it, so that secret scanners find them. */
export const STATIC_TOKEN_PREFIX = 'trv_'

/** A new token, and its line for the file. Nobody can read the token from the line. */
export function createStaticToken (
  { expiresAt, ...rest }: NewStaticToken
): { readonly token: string, readonly entry: string } {
  // 256 random bits cannot be guessed, so a fast hash without salt protects them as well as a slow one.
  const token = `${STATIC_TOKEN_PREFIX}${random.name(32)}`
  const fields: StaticTokenEntry = { sha256: hashToken(token), ...rest, expiresAt: expiresAt.toISOString() }
  return { token, entry: `- ${JSON.stringify(fields)}` }
}
