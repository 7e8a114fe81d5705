// Credentials of the service that never change: none, a secret in a header, and a user with a password.

import type { CompiledAuth } from '../definition/compile-upstream.ts'
import { HEADER_VALUE, isOfConnection } from '../request-head.ts'
import type { Credential } from './credential.ts'

type CompiledAuthOf<T extends CompiledAuth['type']> = Extract<CompiledAuth, { readonly type: T }>

const NO_HEADERS = Object.freeze({})

export function openNoCredential (): Credential {
  return { headers: () => NO_HEADERS }
}

/** Throws an Error, without the value, if no header can have it. */
export function openSecret ({ header = 'authorization', value }: CompiledAuthOf<'secret'>): Credential {
  if (!HEADER_VALUE.test(value) || value.trim() !== value) {
    throw new Error('the value has characters that no header can have, such as a line end at its end')
  }
  const name = header.toLowerCase()
  if (isOfConnection(name)) throw new Error(`the header ${name} is one of the connection: name another one`)
  const headers = Object.freeze({ [name]: value })
  return { headers: () => headers }
}

/** RFC 7617, section 2. Throws an Error for a user that it cannot represent. */
export function openBasic ({ user, password }: CompiledAuthOf<'basic'>): Credential {
  if (user.includes(':')) throw new Error('the user must not have a colon')
  const pair = Buffer.from(`${user}:${password}`).toString('base64')
  const headers = Object.freeze({ authorization: `Basic ${pair}` })
  return { headers: () => headers }
}
