// The page where people see what they have connected, and end it.

import type { ConnectedClient, SignedIn } from '../../features/sign-in/flows/connections.ts'
import { html, toPage, type HtmlValue } from '../http/pages/page.ts'
import { findUnusual, toVisible } from './names.ts'

const TIME_LENGTH = 'yyyy-mm-ddThh:mm'.length

export function toSignedOutPage (title: string): string {
  return toPage({
    title: `Your connections to ${title}`,
    body: html`<h1>Your connections to ${title}</h1>
<p>Sign in to see which assistants may use ${title} as you, and to end that.</p>
<form method="post">
<p><button name="action" value="sign-in">Sign in</button></p>
</form>`
  })
}

export function toConnectionsPage (
  title: string, { name, token }: SignedIn, connections: readonly ConnectedClient[]
): string {
  return toPage({
    title: `Your connections to ${title}`,
    isWide: true,
    body: html`<h1>Your connections to ${title}</h1>
<p class="faint">You are signed in as <bdi>${toVisible(name)}</bdi>. All times are UTC.</p>
<form method="post">
<input type="hidden" name="token" value="${token}">
${connections.length === 0 ? html`<p>No assistant is connected.</p>` : toTable(connections)}
<p>${connections.length > 1 ? html`<button name="action" value="end-all">End all</button> ` : html``}
<button name="action" value="sign-out">Sign out</button></p>
</form>
<p class="faint">An assistant that is ended must ask you again. You stay signed in at your company.</p>`
  })
}

function toTable (connections: readonly ConnectedClient[]): HtmlValue {
  const headings = ['Assistant', 'Since', 'Last used', 'End']
  return html`<table>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${connections.map(toRow)}</tbody>
</table>`
}

function toRow ({ id, clientName, clientHost, createdAt, usedAt }: ConnectedClient): HtmlValue {
  const name = toVisible(clientName === '' ? 'Without a name' : clientName)
  const details = [clientHost ?? 'registered itself', ...findUnusual(clientName)].join(', ')
  return html`<tr><th scope="row"><bdi>${name}</bdi><br><span class="faint">${details}</span></th>
<td>${toTime(createdAt)}</td><td>${toTime(usedAt)}</td>
<td><button name="end" value="${id}" aria-label="End ${name}">End</button></td></tr>
`
}

function toTime (ms: number): HtmlValue {
  const time = new Date(ms).toISOString().slice(0, TIME_LENGTH)
  return html`<time datetime="${time}Z">${time.replace('T', ' ')}</time>`
}
