// Errors for clients that may try the same again later.

import { errors } from 'oidc-provider'
import { AuthenticationUnavailable } from '../../../platform/access/authentication.ts'
import { StoreUnavailable } from '../../../platform/store/records/state-store.ts'

export function unavailable (reason: string, cause?: unknown): Error {
  return Object.assign(new errors.TemporarilyUnavailable(reason, { cause }), { status: 503, statusCode: 503 })
}

/** The engine would answer an outage of the store or of the identity provider as an error of its own. */
export async function orUnavailable<T> (work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    const isOutage = error instanceof StoreUnavailable || error instanceof AuthenticationUnavailable
    throw isOutage ? unavailable('try again', error) : error
  })
}
