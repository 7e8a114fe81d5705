// Refresh tokens. A token names its grant and how many tokens came before it, so that the grant has room for
// all of them, and a reply that was lost can be given again.

import type { Sealer } from '../../../platform/store/sealing/sealer.ts'

export interface RefreshName {
  readonly grantId: string
  /** How many refresh tokens of the grant came before. */
  readonly rotation: number
}

const PURPOSE = 'refresh token'
const PROOF_BYTES = 24
const TOKEN = /^([\w-]{22}\.[\w-]{22})\.(\d{1,9})\.([\w-]{32})$/

export type RefreshTokens = ReturnType<typeof createRefreshTokens>

export function createRefreshTokens (sealer: Pick<Sealer, 'toNames'>) {
  const proofsOf = (name: string) => sealer.toNames(PURPOSE, name, PROOF_BYTES)
  return {
    write ({ grantId, rotation }: RefreshName): string {
      const name = `${grantId}.${rotation}`
      return `${name}.${proofsOf(name)[0]}`
    },
    /** Returns `undefined` for what is no refresh token of this service. */
    read (token: string): RefreshName | undefined {
      const [, grantId = '', rotation = '', proof = ''] = TOKEN.exec(token) ?? []
      return proofsOf(`${grantId}.${rotation}`).includes(proof)
        ? { grantId, rotation: Number(rotation) }
        : undefined
    }
  }
}
