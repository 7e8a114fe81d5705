// What people read at a link: the pages of uploads, and those of links that do not work.

import type { FastifyReply } from 'fastify'
import { describeBytes } from '../../base/words.ts'
import type { LinkedUpload } from '../../features/files/file-server.ts'
import { prefersHtml } from '../http/accept.ts'
import { html, sendPage, toPage } from '../http/pages/page.ts'
import { describeTypes } from './types.ts'

type AskedFile = Omit<LinkedUpload, 'isUsed' | 'typeOf' | 'receive'>

export function toFormPage (title: string, { message, account, accept, maxBytes }: AskedFile): string {
  const asking = account === undefined
    ? html`Go on only if you have just asked for this yourself, in your own assistant.`
    : html`The file goes to the account <strong>${account}</strong>. Go on only if this is your account, and
you have just asked for this in your own assistant.`
  const types = accept.length === 0 ? html`` : html` accept="${accept.join(',')}"`
  const kinds = accept.length === 0 ? 'Any file' : describeTypes(accept)
  return toPage({
    title: `${title}: send a file`,
    body: html`<h1>Send a file to ${title}</h1>
<p class="message">${message}</p>
<p>${asking}</p>
<form method="post" enctype="multipart/form-data">
<p><label>File <input type="file" name="file" required aria-describedby="kinds"${types}></label></p>
<p id="kinds" class="faint">${kinds}, up to ${describeBytes(maxBytes)}.</p>
<p><button>Send</button></p>
</form>`
  })
}

export interface Notice {
  readonly title: string
  readonly text: string
  /** The text of a link back to the form. Absent if the form would not help. */
  readonly back?: string | undefined
}

/** @param service the name of the service. */
export function toNoticePage (service: string, { title, text, back }: Notice): string {
  // An empty address is that of the page, which a browser then asks for without the form.
  const way = back === undefined ? html`` : html`\n<p><a class="button" href="">${back}</a></p>`
  return toPage({ title: `${service}: ${title}`, body: html`<h1>${title}</h1>\n<p>${text}</p>${way}` })
}

/** Answers in plain text. */
export function sendText (reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header('content-type', 'text/plain; charset=utf-8').send(`${text}\n`)
}

const DEAD = 'This link does not work. It is not complete, or it has expired.'

/** Answers a link that is unknown, damaged or expired, or of another caller, always in the same way. */
export function notFound (reply: FastifyReply): FastifyReply {
  reply.header('vary', 'Accept')
  if (!prefersHtml(reply.request)) return sendText(reply, 404, DEAD)
  return sendPage(reply, 404, toPage({
    title: 'This link does not work',
    body: html`<h1>This link does not work</h1>
<p>It is not complete, or it has expired. Ask your assistant for a new link.</p>`
  }))
}
