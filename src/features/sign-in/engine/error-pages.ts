// Shows errors that would send a person who has not consented to a host that somebody may have made up: RFC
// 9700, section 4.11.2.

import type { EventEmitter } from 'node:events'
import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import { isLoopback } from '../../../base/addresses.ts'
import type { Documents } from './documents.ts'

/** The errors that are shown, and could go to their client. */
const pageErrors = new WeakSet<Error>()

/** Clients that the operator trusts get their errors, and so do programs of the person's computer. */
export function showErrors (engine: Provider, documents: Pick<Documents, 'isTrusted'>): void {
  const show = (ctx: KoaContextWithOIDC, error: Error) => {
    const { oidc: { route, client, params } } = ctx
    const redirectUri = params?.['redirect_uri']
    if (route !== 'authorization' || client === undefined || documents.isTrusted(client.clientId)) return
    if (!('allow_redirect' in error && error.allow_redirect === true)) return
    if (typeof redirectUri !== 'string' || isLoopback(URL.parse(redirectUri)?.hostname ?? '')) return
    error.allow_redirect = false
    ctx.status = 400
    pageErrors.add(error)
  }
  const events: Pick<EventEmitter, 'on'> = engine
  // The engine tells of an error before it looks whether the error may be a redirect.
  events.on('authorization.error', show)
}

/** Returns where the client learns of an error that is shown as a page. */
export function readBack (
  { oidc: { params } }: KoaContextWithOIDC, error: Error, members: object
): { readonly back?: string } {
  if (!pageErrors.has(error)) return {}
  const url = new URL(String(params?.['redirect_uri']))
  for (const [name, value] of Object.entries(members)) {
    if (typeof value === 'string') url.searchParams.set(name, value)
  }
  return { back: url.href }
}
