// The page of an upload, and the file that its form sends.
// https://www.rfc-editor.org/rfc/rfc7578

import type { IncomingHttpHeaders } from 'node:http'
import { finished, type Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { timers } from '../../base/time.ts'
import { describeBytes } from '../../base/words.ts'
import { FilesFull } from '../../features/files/accounts.ts'
import type { LinkedUpload } from '../../features/files/file-server.ts'
import { FileTooLarge, StorageFailed } from '../../features/files/kept-files.ts'
import { sendPage } from '../http/pages/page.ts'
import { toFormPage, toNoticePage, type Notice } from './page.ts'
import { describeTypes } from './types.ts'

/** How long a client may send nothing, in milliseconds. */
const IDLE_MS = 60_000
/**
 * How long an upload may take, in milliseconds. Less than ABANDONED_MS: a sweep must not delete what is still
 * being written.
 */
const UPLOAD_MS = 1_800_000
/** The boundaries and headers of the parts. */
const OVERHEAD_BYTES = 65_536

const ANOTHER = 'Choose another file'

const USED: Notice = {
  title: 'Already used', text: 'A file has been sent by this link already. Ask your assistant for a new link.'
}
const BUSY: Notice = {
  title: 'In use',
  text: 'A file is being sent by this link. Wait until it has arrived, or try again in a minute.',
  back: 'Try again'
}
const NOT_WHOLE: Notice = {
  title: 'Not received', text: 'The file did not arrive as a whole. Try again.', back: 'Try again'
}
const RECEIVED: Notice = {
  title: 'File received',
  text: 'Go back to your assistant, and tell it that the file is there. You can close this page.'
}

export async function sendForm (
  upload: LinkedUpload, title: string, reply: FastifyReply
): Promise<FastifyReply> {
  if (await upload.isUsed()) return sendPage(reply, 409, toNoticePage(title, USED))
  return sendPage(reply, 200, toFormPage(title, upload))
}

/** Reads the first file of the form. */
export async function receiveFile (
  upload: LinkedUpload, title: string, request: FastifyRequest, reply: FastifyReply
): Promise<FastifyReply> {
  // The connection may have been spared from the timeout of the server for good.
  reply.header('connection', 'close')
  try {
    const length = Number(request.headers['content-length'] ?? 0)
    if (await upload.isUsed()) throw new UploadError(409, USED)
    if (length > upload.maxBytes + OVERHEAD_BYTES) throw tooLarge(upload)
    await readForm(request, upload)
    return sendPage(reply, 200, toNoticePage(title, RECEIVED))
  } catch (error) {
    const refusal = toUploadError(error, upload)
    if (refusal === undefined) throw error
    if (refusal.cause !== undefined) request.log.warn({ err: refusal.cause }, 'upload failed')
    return sendPage(reply, refusal.status, toNoticePage(title, refusal.notice))
  }
}

/** What the user reads. */
class UploadError extends Error {
  readonly status: number
  readonly notice: Notice

  constructor (status: number, notice: Notice, cause?: unknown) {
    super(notice.text, { cause })
    this.status = status
    this.notice = notice
  }
}

function toUploadError (error: unknown, upload: LinkedUpload): UploadError | undefined {
  if (error instanceof UploadError) return error
  if (error instanceof FileTooLarge) return tooLarge(upload)
  const toNotStored = ({ message: text }: Error): Notice => ({ title: 'Not stored', text, back: 'Try again' })
  if (error instanceof StorageFailed) return new UploadError(503, toNotStored(error), error.cause)
  return error instanceof FilesFull ? new UploadError(507, toNotStored(error)) : undefined
}

function tooLarge ({ maxBytes }: LinkedUpload): UploadError {
  const text = `The file is larger than ${describeBytes(maxBytes)}. Choose a smaller one.`
  return new UploadError(413, { title: 'Too large', text, back: ANOTHER })
}

async function readForm (request: FastifyRequest, upload: LinkedUpload): Promise<void> {
  const { headers, raw: body } = request
  const form = openForm(headers)
  const stop = () => { body.destroy() }
  const idle = timers.setTimeout(() => {
    // While the storage takes no bytes, the client cannot send more. The storage ends its wait by itself.
    if (form.writableNeedDrain) idle.refresh()
    else stop()
  }, IDLE_MS)
  const deadline = timers.setTimeout(stop, UPLOAD_MS)
  let countBytes = (_bytes: Buffer): void => {}
  let unwatch: (() => void) | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      let file: Readable | undefined
      let receiving: Promise<void> | undefined
      // Nothing is kept of a file that ends with an error.
      const fail = (error: Error) => {
        reject(error instanceof UploadError ? error : new UploadError(400, NOT_WHOLE))
        file?.destroy(error)
      }
      let length = 0
      countBytes = (bytes) => {
        idle.refresh()
        length += bytes.length
        // What is beside the file, such as a text that does not end, is no reason to read on.
        const isOver = length > upload.maxBytes + OVERHEAD_BYTES
        if (isOver && file?.readableEnded !== true) fail(tooLarge(upload))
      }
      form.on('file', (_field, bytes, name, _encoding, mimeType) => {
        // The error of a form that breaks off comes from its file too, also if nobody reads the file.
        file = bytes.on('error', () => {})
        receiving = receive(upload, { bytes, name, mimeType })
        receiving.then(resolve, reject)
      })
      const end = () => { if (receiving === undefined) reject(noFile()) }
      form.on('error', fail).once('finish', end).once('partsLimit', () => {
        // To skip a part takes 5 µs, and a megabyte may have 15,000.
        body.unpipe(form).resume()
        end()
      })
      unwatch = finished(body, { writable: false }, (error) => { if (error) fail(error) })
      body.on('data', countBytes).pipe(form)
    })
  } finally {
    timers.clear(idle)
    timers.clear(deadline)
    // The answer is decided. The rest of the body is read, but means nothing.
    body.off('data', countBytes)
    unwatch?.()
    body.unpipe(form).resume()
  }
}

interface SentPart { readonly bytes: Readable, readonly name: string | undefined, readonly mimeType: string }

async function receive (upload: LinkedUpload, { bytes, name = '', mimeType }: SentPart): Promise<void> {
  // Browsers send a part without a name if no file is chosen.
  if (name === '') throw noFile()
  const type = upload.typeOf({ name, mimeType })
  if (type === undefined) {
    const text = `This file is of another type. What is asked for: ${describeTypes(upload.accept)}.`
    throw new UploadError(415, { title: 'Not this type', text, back: ANOTHER })
  }
  const outcome = await upload.receive({ name, mimeType: type, bytes })
  if (outcome === 'used') throw new UploadError(409, USED)
  if (outcome === 'busy') throw new UploadError(409, BUSY)
}

const noFile = () => new UploadError(400, { title: 'No file', text: 'Choose a file first.', back: 'Go back' })

/** Throws an UploadError for what is no form, and for a boundary that no form may have. */
function openForm (headers: IncomingHttpHeaders): BusboyInstance {
  try {
    if (isForm(headers)) return new Busboy({ headers, limits: { files: 1, fields: 10, parts: 11 } })
  } catch {
    // The header is wrong.
  }
  const text = 'Send the file with the form of the page, as multipart/form-data.'
  throw new UploadError(415, { title: 'No form', text, back: 'Go back' })
}

function isForm (headers: IncomingHttpHeaders): headers is BusboyHeaders {
  return /^multipart\/form-data;.*\bboundary=/i.test(headers['content-type'] ?? '')
}
