// Opens the credential of an upstream: one row for each type of `auth`.

import type { CompiledAuth } from '../catalog/compiled/upstreams/compile-upstream.ts'
import type { Credential } from './credentials/credential.ts'
import { openBasic, openNoCredential, openSecret } from './credentials/secret.ts'

type Opener<T extends CompiledAuth['type']> = (
  auth: Extract<CompiledAuth, { readonly type: T }>
) => Credential | Promise<Credential>

/** A type without a row does not open: its catalog does not load. */
const OPENERS: { readonly [T in CompiledAuth['type']]?: Opener<T> } = {
  none: openNoCredential,
  secret: openSecret,
  basic: openBasic
}

/** Throws, or rejects with, an Error for an `auth` that this service cannot have. */
export function openCredential (auth: CompiledAuth): Credential | Promise<Credential> {
  // Each row takes the `auth` of its own type.
  const open = OPENERS[auth.type] as Opener<CompiledAuth['type']> | undefined
  if (open === undefined) throw new Error(`this service has no auth of type ${auth.type} for upstreams`)
  return open(auth)
}
