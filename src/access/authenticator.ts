import { ANONYMOUS, type Principal } from './principal.ts'

/** Finds out who is asking. */
export interface Authenticator {
  /** @param authorization the value of the `Authorization` header, if one was sent. Throws where it proves nothing. */
  authenticate (authorization: string | undefined): Principal | Promise<Principal>
}

/** Knows nobody: everyone is anonymous, and no scope is ever granted. */
export const openToAll: Authenticator = { authenticate: () => ANONYMOUS }
