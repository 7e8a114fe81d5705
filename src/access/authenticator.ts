// The seam for authentication: an interface, and the implementation without authentication.

import { ANONYMOUS, type Principal } from './principal.ts'

/** Finds the principal of each request. Pass yours to `createApp`. */
export interface Authenticator {
  /**
   * Called once for each HTTP request, before its body is read. Throws, or rejects, where the token is not
   * valid: the request is then answered with HTTP 401. An AuthenticationError decides what else the client is
   * told; an AuthenticationUnavailable answers HTTP 503.
   * @param authorization the value of the `Authorization` header; `undefined` when the client sent none.
   */
  authenticate (authorization: string | undefined): Principal | Promise<Principal>
  /** Called when the app closes. */
  close? (): void | Promise<void>
}

/** Every caller is anonymous and has no scopes. */
export const openToAll: Authenticator = { authenticate: () => ANONYMOUS }
