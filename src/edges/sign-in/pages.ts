// What people see on the way through a sign-in, beside the consent.

import type { EngineError, ErrorPage } from '../../features/sign-in/engine/engine.ts'
import type { Refused } from '../../features/sign-in/flows/steps.ts'
import { html, PAGE_HEADERS, toPage, type HtmlValue } from '../http/pages/page.ts'

/** A page that goes on by itself. */
export function toPassagePage (url: string): string {
  return toPage({
    title: 'One moment',
    refresh: { seconds: 0, url },
    body: html`<h1>One moment</h1>
<p><a href="${url}">Go on</a></p>`
  })
}

function toNotice (service: string, heading: string, ...lines: readonly HtmlValue[]): string {
  return toPage({
    title: `${heading}: ${service}`,
    body: html`<h1>${heading}</h1>\n${lines.map((line) => html`<p>${line}</p>\n`)}`
  })
}

export function toLostPage (service: string): string {
  return toNotice(
    service, 'This sign-in has ended',
    'It was finished or cancelled before, it is older than 15 minutes, it was begun in another browser or ' +
      'app, or this browser keeps no cookies.',
    'Go back to your assistant, and connect again. If that ends here too, allow cookies for this site.'
  )
}

export function toTooManyPage (
  service: string, { url, again }: { readonly url: string, readonly again: string }
): string {
  return toNotice(
    service, 'Too many assistants are connected',
    html`End some at <a href="${url}">your connections</a>. Then <a href="${again}">try again</a>.`
  )
}

export function toRefusedPage (service: string, { by, again, back }: Refused): string {
  const way = back === undefined ? html`` : html` <a class="button" href="${back}">Back to your assistant</a>`
  const reason = by === 'rules'
    ? html`You have signed in, but this account may not use ${service}. Sign in with another account, or ask
those who run the service to let you in.`
    : html`The sign-in of your company was cancelled or refused, or it took too long. If that happens again,
ask those who run the service.`
  return toNotice(
    service, by === 'rules' ? 'This account may not come in' : 'You are not signed in', reason,
    html`<a class="button" href="${again}">Try again</a>${way}`
  )
}

export function toUnavailablePage (service: string): string {
  return toNotice(
    service, 'Signing in does not work at the moment',
    'The sign-in of your company, or a part of the service, does not answer. Wait a minute, and load this ' +
      'page again.',
    'If that does not help, go back to your assistant, and connect again later.'
  )
}

/** @param reason what was wrong with the request. */
export function toFailedPage (service: string, reason: string, back?: string): string {
  return toNotice(
    service, 'The sign-in cannot go on', html`${reason}.`,
    'Go back to your assistant, and connect again. If that ends here too, send this text to those who run ' +
      'the service.',
    ...back === undefined ? [] : [html`<a href="${back}">Back to ${new URL(back).host || back}</a>`]
  )
}

export function toErrorPage (
  service: string, { error, error_description: description, back }: EngineError
): ErrorPage {
  return { headers: PAGE_HEADERS, text: toFailedPage(service, description ?? error, back) }
}
