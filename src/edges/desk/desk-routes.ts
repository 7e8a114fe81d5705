// The routes of the desk: its metadata and keys for upstreams, and the page on which the author picks who
// signs in. They answer this machine only.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { refuseOtherMachines, refuseOtherPages } from '../http/own-machine.ts'
import { html, sendPage, toPage } from '../http/pages/page.ts'
import { DESK_PATH, type Desk, type DeskCaller } from './desk.ts'

interface PageRoute { Querystring: { readonly state?: string, readonly nonce?: string } }

interface Typed { readonly subject: string, readonly claims: string }

/** With `no-referrer` the browser would hide the origin of a form. */
const HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'same-origin' }
const MAX_FORM_BYTES = 16_384

/** @param callback where a person who has signed in goes. Absent if nobody does here. */
export function registerDesk (app: FastifyInstance, desk: Desk, callback: string | undefined): void {
  desk.listenWith(app.server)
  app.addHook('onRequest', refuseOtherMachines('desk'))
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(HEADERS)
    done()
  })
  const sendMetadata = () => ({
    issuer: desk.issuer, jwks_uri: `${desk.issuer}/keys`, response_types_supported: [], trivet_dev: true
  })
  app.get(`${DESK_PATH}/.well-known/openid-configuration`, sendMetadata)
  app.get(`/.well-known/oauth-authorization-server${DESK_PATH}`, sendMetadata)
  app.get(`${DESK_PATH}/keys`, (_, reply) => reply.type('application/json').send(desk.jwks))
  if (callback !== undefined) app.register(async (pages) => registerSignInPage(pages, desk, callback))
}

function registerSignInPage (app: FastifyInstance, desk: Desk, callback: string): void {
  const { subject = '', claims: firstClaims } = desk.firstCaller
  const claims = firstClaims === undefined ? '' : JSON.stringify(firstClaims)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded', { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    (_request, text, done) => done(null, new URLSearchParams(String(text)))
  )
  app.get(`${DESK_PATH}/sign-in`, (_, reply) => sendPage(reply, 200, toForm({ subject, claims })))
  app.post<PageRoute>(`${DESK_PATH}/sign-in`, { onRequest: refuseOtherPages('desk') }, takeCaller)

  async function takeCaller (
    { body, query }: FastifyRequest<PageRoute>, reply: FastifyReply
  ): Promise<FastifyReply> {
    const form = body instanceof URLSearchParams ? body : new URLSearchParams()
    const typed = { subject: form.get('subject')?.trim() ?? '', claims: form.get('claims')?.trim() ?? '' }
    const caller = readCaller(typed)
    if (typeof caller === 'string') return sendPage(reply, 400, toForm(typed, caller))
    const { state = '', nonce = '' } = query
    const code = await desk.toCode(caller, String(nonce))
    const params = new URLSearchParams({ state: String(state), code })
    return sendPage(reply, 200, toPage({
      title: 'One moment',
      // A redirect after a form would be held to the policy of the page that has the form.
      refresh: { seconds: 0, url: `${callback}?${params.toString()}` },
      body: html`<h1>One moment</h1>`
    }))
  }
}

/** Returns what is wrong with a form, or the caller. */
function readCaller ({ subject, claims }: Typed): DeskCaller | string {
  if (subject === '') return 'A person has a name.'
  try {
    const members: unknown = claims === '' ? {} : JSON.parse(claims)
    return isObject(members) ? { subject, scopes: [], claims: members } : 'Claims are an object.'
  } catch {
    return 'Claims are JSON, such as {"groups":["editors"]}.'
  }
}

function toForm ({ subject, claims }: Typed, problem?: string): string {
  return toPage({
    title: 'Who signs in?',
    body: html`<h1>Who signs in?</h1>
<p class="faint">This is the desk of <code>npx trivet dev</code>, in the place of an identity provider.
It believes everything, and its tokens count until <code>dev</code> ends.</p>
${problem === undefined ? undefined : html`<p class="bad" role="alert">${problem}</p>`}
<form method="post">
<p><label for="subject">Subject</label>
<input id="subject" name="subject" value="${subject}" autocomplete="off" spellcheck="false" required></p>
<p><label for="claims">Claims, as JSON: the rules of <code>sign-in.yaml</code> read them</label>
<input id="claims" name="claims" value="${claims}" placeholder="{}" autocomplete="off" spellcheck="false"></p>
<p><button>Sign in</button></p>
</form>`
  })
}
