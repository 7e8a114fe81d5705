// A person's way to the identity provider and back. A sealed cookie of the browser has what both must have in
// common, so that any replica ends the way, and no other browser can.

import { hash } from 'node:crypto'
import { random } from '../../../base/time.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import type { Passage } from '../people/identity-provider.ts'
import { toEnd, type Cookie, type Cookies } from './cookies.ts'

/** What the way is for. */
export interface PassageAim {
  /** The consent that the person has given. Absent: the person signs in at the page of connections. */
  readonly consent?: string
  /** The consent is remembered, and counts for this person alone. */
  readonly subject?: string
}

export type SealedPassage = Passage & PassageAim

export type Passages = ReturnType<typeof createPassages>

const PURPOSE = 'sign-in flow'

/** @param seconds how long the way may take. */
export function createPassages (sealer: Pick<Sealer, 'seal' | 'open'>, seconds: number, now: () => number) {
  /** A browser may be on several ways at once. */
  const nameOf = (state: string) => `way-${state}`
  function read (state: string, cookies: Cookies): SealedPassage | undefined {
    const cookie = cookies.read(nameOf(state))
    const bytes = cookie === undefined ? undefined : sealer.open(PURPOSE, state, cookie)
    return bytes && JSON.parse(String(bytes))
  }

  return {
    /** @param state the id of the flow. */
    create (state: string, aim: PassageAim): { readonly passage: Passage, readonly cookie: Cookie } {
      const passage = { state, nonce: random.name(16), codeVerifier: random.name(32) }
      const bytes = Buffer.from(JSON.stringify({ ...passage, ...aim }))
      const value = sealer.seal(PURPOSE, state, bytes, now() + seconds * 1000)
      return { passage, cookie: { name: nameOf(state), value, seconds } }
    },
    read,
    /** Names the way on which a browser is. The cookie cannot be made of the name. */
    nameWay (state: string, cookies: Cookies): string | undefined {
      const passage = read(state, cookies)
      return passage && hash('sha256', passage.nonce, 'base64url')
    },
    /** A way has one end. */
    end: (state: string): Cookie => toEnd(nameOf(state))
  }
}
