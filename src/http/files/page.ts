// What people read at a link: short texts, and the pages of uploads, plain HTML with a form and no scripts.

import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { LinkedUpload } from '../../files/file-server.ts'

const STYLE = 'body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem;' +
  'color:#1b1b1b;background:#fff}.message{border-left:.25rem solid #999;padding-left:1rem;' +
  'white-space:pre-wrap;overflow-wrap:anywhere}button{font:inherit;padding:.4rem 1.2rem}'

/** Nothing is loaded and nothing runs. The form sends to its own page, and no other page can show it. */
export const PAGE_POLICY = "default-src 'none'; " +
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

export function toFormPage (
  title: string,
  { message, account, accept, maxBytes }: Omit<LinkedUpload, 'isUsed' | 'typeOf' | 'receive'>
): string {
  const asking = account === undefined
    ? 'Go on only if you have just asked for this yourself, in your own assistant.'
    : `The file goes to the account <strong>${escape(account)}</strong>. Go on only if this is your ` +
      'account, and you have just asked for this in your own assistant.'
  const types = accept.length === 0 ? '' : ` accept="${escape(accept.join(','))}"`
  const limit = `At most ${describeBytes(maxBytes)}` + (accept.length === 0 ? '.' : `: ${accept.join(', ')}.`)
  return toPage(`${title}: upload a file`, `<h1>${escape(title)} asks for a file</h1>
<p class="message">${escape(message)}</p>
<p>${asking}</p>
<form method="post" enctype="multipart/form-data">
<p><label>File <input type="file" name="file" required${types}></label></p>
<p>${escape(limit)}</p>
<p><button>Upload</button></p>
</form>`)
}

export function toMessagePage (title: string, heading: string, text: string): string {
  return toPage(`${title}: ${heading}`, `<h1>${escape(heading)}</h1>\n<p>${escape(text)}</p>`)
}

function toPage (title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title><style>${STYLE}</style></head>
<body>
${body}
</body>
</html>
`
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escape (text: string): string {
  return Object.entries(ENTITIES).reduce((escaped, [sign, entity]) => escaped.replaceAll(sign, entity), text)
}

/** For people. */
export function describeBytes (bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  const kibibytes = bytes / 1024
  const [value, unit] = kibibytes < 1024
    ? [kibibytes, 'KiB']
    : kibibytes < 1_048_576 ? [kibibytes / 1024, 'MiB'] : [kibibytes / 1_048_576, 'GiB']
  return `${Number(value.toFixed(1))} ${unit}`
}

/** Answers in plain text. */
export function sendText (reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header('content-type', 'text/plain; charset=utf-8').send(`${text}\n`)
}

/** Answers a link that is unknown, damaged or expired, or of another caller, always in the same way. */
export function notFound (reply: FastifyReply): FastifyReply {
  return sendText(reply, 404, 'This link does not work. It is not complete, or it has expired.')
}
