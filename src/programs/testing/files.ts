// Follows the links to files in a test: requests to the routes of production, without a port.

import type { Service } from '../../app/app.ts'
import type { TestUpload } from './question.ts'

/** A file behind a link. */
export interface TestDownload {
  readonly name: string
  readonly mimeType: string
  readonly bytes: Buffer
}

type Injectable = Pick<Service['app'], 'inject'>

/** Rejects with an Error that has the status and the text of an answer that is not 200. */
export async function downloadFile (app: Injectable, link: unknown): Promise<TestDownload> {
  const { headers, rawPayload } = await send(app, 'GET', link)
  return {
    name: nameIn(String(headers['content-disposition'])),
    mimeType: String(headers['content-type']),
    bytes: rawPayload
  }
}

/** Rejects with an Error that has what the page says about a file that it refuses. */
export async function uploadFile (
  app: Injectable, url: unknown, { name, bytes, mimeType = 'application/octet-stream' }: TestUpload
): Promise<void> {
  const form = new FormData()
  form.append('file', new File([bytes], name, { type: mimeType }))
  const { headers, body } = new Response(form)
  const chunks: Uint8Array[] = []
  for await (const chunk of body ?? []) chunks.push(chunk)
  await send(app, 'POST', url, { 'content-type': headers.get('content-type') ?? '' }, Buffer.concat(chunks))
}

async function send (
  app: Injectable, method: 'GET' | 'POST', link: unknown, headers = {}, payload?: Buffer
) {
  if (typeof link !== 'string' || !URL.canParse(link)) throw new TypeError(`not a link: ${String(link)}`)
  const { pathname, host } = new URL(link)
  const answer = await app.inject({
    method, url: pathname, headers: { host, ...headers }, ...payload !== undefined && { payload }
  })
  if (answer.statusCode === 200) return answer
  const text = answer.body.replace(/^[^]*<body>/, '').replaceAll(/<[^>]*>/g, '').trim().replaceAll(/\s+/g, ' ')
  throw new Error(`The answer to ${method} is ${answer.statusCode}: ${text}`)
}

function nameIn (disposition: string): string {
  const [, encoded] = /filename\*=UTF-8''([^;]*)/i.exec(disposition) ?? []
  const [, quoted = ''] = /filename="((?:[^"\\]|\\.)*)"/.exec(disposition) ?? []
  const [, bare = ''] = /filename=([^";]+)/.exec(disposition) ?? []
  return encoded === undefined ? quoted.replaceAll(/\\(.)/g, '$1') || bare : decodeURIComponent(encoded)
}
