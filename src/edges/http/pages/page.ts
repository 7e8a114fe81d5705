// The frame of every page that people see in a browser. Pages run no scripts and load nothing.

import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

const STYLE = `:root{color-scheme:light dark;--text:#1b1b1b;--faint:#595959;--line:#d0d0d0;--field:#f4f4f4;
--good:#12662f;--bad:#a3131b;--link:#0b57a4;--page:#fff}
@media (prefers-color-scheme:dark){:root{--text:#ececec;--faint:#a8a8a8;--line:#444;--field:#262626;
--good:#7ad19a;--bad:#ff9a94;--link:#8fc1ff;--page:#161616}}
body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem;color:var(--text);
background:var(--page);overflow-wrap:anywhere}
body.wide{max-width:60rem}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1.1rem;line-height:1.25;margin:2rem 0 .5rem}
p,ul{margin:.5rem 0}ul{padding-left:1.25rem}
a{color:var(--link)}
.faint{color:var(--faint)}.good{color:var(--good)}.bad{color:var(--bad)}
.message{border-left:.25rem solid var(--line);padding-left:1rem;white-space:pre-wrap}
pre{background:var(--field);padding:.75rem;white-space:pre-wrap}
code,pre{font:.9em/1.5 ui-monospace,monospace}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-top:1px solid var(--line);
overflow-wrap:anywhere}
th{font-weight:600}thead th{border-top:0;overflow-wrap:normal}
tbody th{font-weight:400;min-width:6rem}
.numbers td{overflow-wrap:normal}
@media (max-width:30rem){th,td{padding-right:.5rem;font-size:.9rem}}
input::file-selector-button{font:inherit;min-height:2.75rem}
input,button,.button{font:inherit;color:inherit;box-sizing:border-box;max-width:100%;min-height:2.75rem}
button,.button{display:inline-block;padding:.55rem 1.25rem;border:1px solid var(--faint);border-radius:.4rem;
background:var(--field);text-decoration:none;cursor:pointer;overflow-wrap:normal}
input{padding:.55rem 0}
label{display:block}`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** HTML whose values are escaped. Only `html` makes it. */
class Html {
  readonly text: string

  constructor (text: string) { this.text = text }
}

export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[]

/** Escapes each value that is not HTML itself. A list is joined, and `undefined` is nothing. */
export function html (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.reduce((text, part, index) => text + toHtmlText(values[index - 1]) + part))
}

function toHtmlText (value: HtmlValue): string {
  if (value instanceof Html) return value.text
  if (value === undefined) return ''
  return typeof value === 'object' ? value.map(toHtmlText).join('') : escape(String(value))
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escape (text: string): string {
  return Object.entries(ENTITIES).reduce((escaped, [sign, entity]) => escaped.replaceAll(sign, entity), text)
}

export interface PageOptions {
  readonly title: string
  readonly body: Html
  /** For tables. */
  readonly isWide?: boolean
  /** After how many seconds the browser loads the page again, or another one. Never by default. */
  readonly refresh?: { readonly seconds: number, readonly url?: string } | undefined
}

export function toPage ({ title, body, isWide = false, refresh }: PageOptions): string {
  const way = refresh?.url === undefined ? '' : `;url=${refresh.url}`
  const refreshing = refresh && html`<meta http-equiv="refresh" content="${refresh.seconds}${way}">\n`
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refreshing}<title>${title}</title><style>${new Html(STYLE)}</style></head>
<body${isWide ? html` class="wide"` : html``}>
<main>
${body}
</main>
</body>
</html>
`
  return page.text
}

/** A form of a page may send to its own origin, and no other page can show it. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; ` +
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff'
}

export function sendPage (reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).headers(PAGE_HEADERS).send(page)
}
