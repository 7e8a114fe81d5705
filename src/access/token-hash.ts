// The name of a token in memory and in files.

import { hash } from 'node:crypto'

/** The token cannot be read from it. */
export function hashToken (token: string): string {
  return hash('sha256', token, 'hex')
}
