// The routes that people visit in a browser: the consent, the way back from the identity provider, and what
// they have connected.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CONSENT_PATH } from '../../features/sign-in/engine/metadata.ts'
import type { Step } from '../../features/sign-in/flows/steps.ts'
import { CALLBACK_PATH, CONNECTIONS_PATH } from '../../features/sign-in/sign-in.ts'
import { invalidRequest } from '../../platform/protocol/errors.ts'
import { sendPage } from '../http/pages/page.ts'
import { toConnectionsPage, toSignedOutPage } from './connections-page.ts'
import { toConsentPage } from './consent-page.ts'
import { createCookies } from './cookies.ts'
import { toLostPage, toPassagePage, toRefusedPage, toTooManyPage } from './pages.ts'
import { handlePageErrors } from './page-errors.ts'
import { prefixesOf, type SignInRouteDependencies } from './served.ts'

/** With `no-referrer` the browser would send the forms without their origin. */
const HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'same-origin' }
const MAX_FORM_BYTES = 8192

export function registerPeopleRoutes (
  app: FastifyInstance, { signIn, words, limiter, replies }: SignInRouteDependencies
): void {
  const { flows, connections, issuer, outcomes } = signIn
  const { origin, protocol } = new URL(issuer)
  const cookies = createCookies(protocol === 'https:')

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    reply.raw.once('close', () => {
      replies.end(request, reply, { isCancelled: !reply.raw.writableFinished })
    })
    limiter.admitOther(request)
    if (request.method === 'POST') checkSender(request, origin)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded', { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    (_request, text, done) => done(null, new URLSearchParams(String(text)))
  )
  handlePageErrors(app, words.title, outcomes)

  for (const prefix of prefixesOf(issuer)) {
    app.get(`${prefix}${CONSENT_PATH}/:flow`, async (request, reply) => (
      send(reply, await flows.ask(request.raw, reply.raw, cookies.of(request)))
    ))
    app.post(`${prefix}${CONSENT_PATH}/:flow`, async (request, reply) => {
      const form = readForm(request)
      const answer = { isAllowed: form.get('answer') === 'allow', token: form.get('token') ?? '' }
      return send(reply, await flows.answer(request.raw, reply.raw, answer))
    })
    app.get(`${prefix}${CALLBACK_PATH}`, async (request, reply) => (
      send(reply, await flows.finish(new URL(request.url, origin).search, cookies.of(request)))
    ))
    app.get(`${prefix}${CONNECTIONS_PATH}`, showConnections)
    app.post(`${prefix}${CONNECTIONS_PATH}`, changeConnections)
  }

  async function showConnections (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const signedIn = connections.read(cookies.of(request))
    if (signedIn === undefined) return sendPage(reply, 200, toSignedOutPage(words.title()))
    return sendPage(reply, 200, toConnectionsPage(words.title(), signedIn, await connections.list(signedIn)))
  }

  async function changeConnections (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const form = readForm(request)
    const browser = cookies.of(request)
    const signedIn = connections.read(browser)
    if (form.get('action') === 'sign-in') return send(reply, await connections.begin())
    if (signedIn !== undefined && connections.isOfForm(browser, form.get('token') ?? '')) {
      const id = form.get('action') === 'end-all' ? 'all' : form.get('end')
      if (id !== null) cookies.set(reply, await connections.end(signedIn, id, browser))
      if (form.get('action') === 'sign-out') cookies.set(reply, [connections.signOut()])
    }
    return reply.code(303).header('location', connections.url).send()
  }

  function send (reply: FastifyReply, step: Step): FastifyReply {
    const { title } = words
    cookies.set(reply, step.cookies ?? [])
    switch (step.kind) {
      case 'ask':
        return sendPage(reply, reply.request.method === 'POST' ? 409 : 200, toConsentPage(
          { ...words, title: title(), connectionsUrl: connections.url }, step
        ))
      case 'go':
        if (step.outcome !== undefined) outcomes[step.outcome]++
        // A redirect after a form would be held to the policy of the page that has the form.
        return reply.request.method === 'POST'
          ? sendPage(reply, 200, toPassagePage(step.url))
          : reply.code(303).header('location', step.url).send()
      case 'lost':
        outcomes.lost++
        return sendPage(reply, 400, toLostPage(title()))
      case 'too many grants':
        outcomes.too_many_grants++
        return sendPage(reply, 409, toTooManyPage(title(), step))
      case 'refused':
        outcomes[step.by === 'rules' ? 'not_admitted' : 'refused']++
        reply.request.log.info({ by: step.by, reason: step.reason }, 'a person was not signed in')
        return sendPage(reply, 403, toRefusedPage(title(), step))
    }
  }
}

/** Throws for a form that another site has sent. */
function checkSender ({ headers }: FastifyRequest, origin: string): void {
  const { origin: sender, 'sec-fetch-site': site = 'same-origin' } = headers
  // A browser sends `none` if the person loads a page again.
  if (sender === origin && ['same-origin', 'none'].includes(site)) return
  throw invalidRequest('The form is one of another site', 403)
}

function readForm ({ body }: FastifyRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}
