// A flow, step by step: what a person's browser asks, and what the pages have.

import type { Person, Visit } from '../../helpers/person.ts'
import { readMetadata, REDIRECT_URI, registerClient, toAuthorization } from './sign-in-service.ts'

export interface FlowOptions {
  readonly clientName?: string
  readonly redirectUri?: string
  /** Of a client that has a document. The client registers itself without it. */
  readonly clientId?: string
  readonly params?: Readonly<Record<string, string>>
}

export interface Flow {
  /** Where the client sends the person. */
  readonly url: URL
  readonly clientId: string
  /** Returns what redeems the code, for the URL where the person comes back. */
  toForm (back: URL): Record<string, string>
}

export const BACK = REDIRECT_URI

/** A client that begins a flow. */
export async function beginFlow (
  origin: string, { clientName = 'Test client', redirectUri = BACK, clientId: id, params }: FlowOptions = {}
): Promise<Flow> {
  const metadata = await readMetadata(origin)
  const clientId = id ?? await registerClient(
    metadata, { client_name: clientName, redirect_uris: [redirectUri] }
  )
  return { clientId, ...toAuthorization(metadata, { clientId, redirectUri, ...(params && { params }) }) }
}

/** Follows redirects within the service. Resolves to the page, or to the redirect that leaves the service. */
export async function open (person: Person, url: URL, form?: URLSearchParams): Promise<Visit> {
  const { origin } = url
  let page = await person.visit(url, form)
  for (let next = wayOf(page); next?.origin === origin; next = wayOf(page)) page = await person.visit(next)
  return page
}

/** Where a page or a redirect leads to by itself. */
export function wayOf ({ headers, text, url }: Visit): URL | undefined {
  const way = headers.get('location') ?? /http-equiv="refresh" content="0;url=([^"]+)"/.exec(text)?.[1]
  return way === undefined ? undefined : new URL(way.replaceAll('&amp;', '&'), url)
}

export function tokenOf ({ text }: Visit): string {
  return /name="token" value="([^"]+)"/.exec(text)?.[1] ?? ''
}

/** Answers the consent page. Resolves to the page that leads on. */
export async function answer (person: Person, page: Visit, value: 'allow' | 'cancel'): Promise<Visit> {
  return await person.visit(page.url, new URLSearchParams({ answer: value, token: tokenOf(page) }))
}

/** Signs in at the identity provider. Resolves to the callback, which the person has not visited yet. */
export async function signInThere (person: Person, allowed: Visit, callback: string): Promise<URL> {
  const start = wayOf(allowed)
  if (start === undefined) throw new Error(`the page leads nowhere: ${allowed.text}`)
  return (await person.follow(start, callback)).url
}
