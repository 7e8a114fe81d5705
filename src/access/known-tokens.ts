// The static tokens of a file, by their hash.

import { readFile } from 'node:fs/promises'
import type { Principal } from './principal.ts'
import { readStaticTokens, type StaticTokenEntry } from './static-token-file.ts'

export interface KnownToken {
  readonly sha256: string
  readonly expiresAt: number
  readonly principal: Principal
}

export type KnownTokens = ReadonlyMap<string, KnownToken>

/** Rejects if the file cannot be read. */
export async function loadKnownTokens (file: string): Promise<KnownTokens> {
  const entries = readStaticTokens(await readFile(file, 'utf8'))
  return new Map([...entries].map(([sha256, entry]) => [sha256, toKnownToken(entry)]))
}

function toKnownToken ({ sha256, subject, scopes, clientId, expiresAt: date }: StaticTokenEntry): KnownToken {
  const expiresAt = Date.parse(date)
  const optional = clientId !== undefined && { clientId }
  return {
    sha256,
    expiresAt,
    principal: Object.freeze({ subject, scopes: new Set(scopes), expiresAt, ...optional })
  }
}
