// The page that asks a person what a client may do. All that a client says of itself may be a lie.

import { isLoopback } from '../../base/addresses.ts'
import { clip } from '../../base/words.ts'
import type { Consent } from '../../features/sign-in/flows/consents.ts'
import type { ConsentQuestion } from '../../features/sign-in/flows/steps.ts'
import { html, toPage, type HtmlValue } from '../http/pages/page.ts'
import { findUnusual, toVisible } from './names.ts'
import type { ServiceWords } from './served.ts'

export interface AskingService extends Pick<ServiceWords, 'describeScope'> {
  readonly title: string
  readonly connectionsUrl: string
}

const MAX_URL_LENGTH = 200

const NOTICES: ReadonlyMap<string, string> = new Map(Object.entries({
  change: 'Something on this page has changed since it was shown. Read it again.',
  person: 'You have signed in as somebody else than before. So you are asked again.'
}))

/** https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration */
const ADVICE = 'Allow it only if you have just begun this yourself, on this device.'
const REASON = 'Every program here can use that address and that name.'
const WARNING = html`<p class="message"><strong>${ADVICE}</strong> ${REASON}</p>\n`

export function toConsentPage (
  { title, describeScope, connectionsUrl }: AskingService,
  { consent, token, why = '' }: Omit<ConsentQuestion, 'kind'>
): string {
  const { clientName = consent.clientHost ?? 'An assistant without a name', scopes } = consent
  const name = html`<bdi>${toVisible(clientName)}</bdi>`
  const notice = NOTICES.get(why)
  const place = toPlace(consent.redirectUri)
  const rows = [
    ['Who asks', html`<strong>${name}</strong>${toUnusual(clientName)}`],
    ['Known by', toSource(consent)],
    ['You go back to', place.text],
    ['It may', scopes.length === 0
      ? `Use what ${title} offers to everybody who signs in`
      : html`<ul>${scopes.map((scope) => html`<li>${describeScope(scope) ?? scope}</li>`)}</ul>`]
  ] as const
  return toPage({
    title: `Sign in to ${title}`,
    body: html`<h1>Allow ${name} to use ${title} as you?</h1>
${notice === undefined ? html`` : html`<p class="message">${notice}</p>\n`}<table>
<tbody>${rows.map(toRow)}</tbody>
</table>
${place.isOnDevice ? WARNING : html``}<p>After this you sign in. The assistant can do no more than you can,
until you end it at <a href="${connectionsUrl}">your connections</a>.</p>
<form method="post">
<input type="hidden" name="token" value="${token}">
<p><button name="answer" value="allow">Allow</button> <button name="answer" value="cancel">Cancel</button></p>
</form>`
  })
}

function toRow ([heading, text]: readonly [heading: string, text: HtmlValue]): HtmlValue {
  return html`<tr><th scope="row">${heading}</th><td>${text}</td></tr>\n`
}

function toUnusual (clientName: string): HtmlValue {
  const unusual = findUnusual(clientName)
  return unusual.length === 0
    ? ''
    : html`<br>Its name has letters that may look like others: <bdi>${unusual.join(', ')}</bdi>`
}

function toSource ({ clientId, clientHost }: Consent): HtmlValue {
  return clientHost === undefined
    ? 'Nobody: it has registered itself, and its name is not checked'
    : html`<strong>${clientHost}</strong>, at <code>${clip(new URL(clientId).href, MAX_URL_LENGTH)}</code>`
}

/** The URL parser writes a host as a browser asks for it: look-alike letters as `xn--…`. */
function toPlace (redirectUri: string): { readonly text: HtmlValue, readonly isOnDevice: boolean } {
  const { protocol, host, hostname } = new URL(redirectUri)
  if (!/^https?:$/.test(protocol)) {
    return { text: html`An app on this device: <strong>${clip(protocol)}</strong>`, isOnDevice: true }
  }
  return isLoopback(hostname) || /(?:\.localhost|^\[::ffff:7f\w\w:\w+\])$/.test(hostname)
    ? { text: html`A program on this computer: <strong>${host}</strong>`, isOnDevice: true }
    : { text: html`<strong>${host}</strong>`, isOnDevice: false }
}
