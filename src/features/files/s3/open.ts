// Files in a bucket of S3, or of a server with the same interface. Keys sort by their expiry: a sweep reads
// only the beginning of the list. A file is one object, sent in parts as its bytes come.

import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { sliceOf } from '../byte-slice.ts'
import { ABANDONED_MS, expiryOf, type FileStorage, type OpenPart, type ReadVariable } from '../storage.ts'
import { readBucket } from './address.ts'
import { createS3Client, elementsOf, NotOfBucket, S3Error, textsOf, type S3Client } from './client.ts'
import { PART_BYTES, toParts } from './parts.ts'

const uncounted: OpenPart = () => ({ add () {}, complete () {}, close () {} })

const PARTIAL_CONTENT = 206
const NOT_FOUND = 404
/** The answer of servers that cannot list incomplete uploads. */
const NOT_IMPLEMENTED = 501

export async function openS3Storage (url: string, readVariable: ReadVariable): Promise<FileStorage> {
  const bucket = await readBucket(url, readVariable)
  const client = createS3Client(bucket)
  const { prefix } = bucket

  return {
    async write (key, source, openPart = uncounted) {
      const upload = new Upload(client, key)
      try {
        for await (const part of toParts(source, openPart)) await upload.add(part)
        await upload.complete()
      } catch (error) {
        await upload.abort()
        throw error
      }
    },
    async read (key, range) {
      const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` }
      const answer = await orUndefined(client.send({ method: 'GET', key, headers }))
      if (answer === undefined || range === undefined || answer.statusCode === PARTIAL_CONTENT) return answer
      // A server may ignore the range, and send the whole file.
      return sliceOf(answer, { start: range.start, length: range.end - range.start + 1 })
    },
    async has (key) {
      return (await orUndefined(client.send({ method: 'HEAD', key })))?.resume() !== undefined
    },
    async delete (key) {
      await remove(key)
    },
    async sweep (now, mayGoOn = () => true) {
      await abortAbandoned(now, mayGoOn)
      let count = 0
      let last: string | undefined
      for (;;) {
        const keys = await listAfter(last)
        const expired = keys.filter((key) => (expiryOf(key) ?? Infinity) < now)
        for (const key of expired) {
          if (!mayGoOn()) return count
          await remove(key)
          count++
        }
        // The first keys expire first.
        if (expired.length === 0 || expired.length < keys.length) return count
        last = expired.at(-1)
      }
    },
    async close () {}
  }

  /** Ignores a missing file: another replica may delete it, and a writer may end the upload. */
  async function remove (key: string, parameters = {}): Promise<void> {
    (await orUndefined(client.send({ method: 'DELETE', key, parameters })))?.resume()
  }

  /** Lists the first keys after `last`: the bucket may still list keys that were just deleted. */
  async function listAfter (last: string | undefined): Promise<string[]> {
    const after = last === undefined ? undefined : prefix + last
    const parameters = { 'list-type': 2, prefix, 'max-keys': 1000, 'start-after': after }
    const answer = await client.send({ method: 'GET', parameters })
    return textsOf(await text(answer), 'Key').map((key) => key.slice(prefix.length))
  }

  /** Deletes the parts of writers that were killed. */
  async function abortAbandoned (now: number, mayGoOn: () => boolean): Promise<void> {
    const answer = await client.send({ method: 'GET', parameters: { uploads: '', prefix } })
      .catch(undefinedIf(NOT_IMPLEMENTED))
    if (answer === undefined) return
    for (const upload of elementsOf(await text(answer), 'Upload')) {
      if (!mayGoOn()) return
      const [path = ''] = textsOf(upload, 'Key')
      const [uploadId] = textsOf(upload, 'UploadId')
      const [beginning = ''] = textsOf(upload, 'Initiated')
      const key = path.slice(prefix.length)
      const isAbandoned = Date.parse(beginning) < now - ABANDONED_MS
      // Without the id, the object itself would be deleted.
      if (uploadId === undefined) continue
      if (isAbandoned && expiryOf(key) !== undefined) await remove(key, { uploadId })
    }
  }
}

/** A file that is being sent. A file of one part needs one request. */
class Upload {
  readonly #client: S3Client
  readonly #key: string
  #id: string | undefined
  readonly #etags: string[] = []
  /** The last part. It is smaller than the others. */
  #waiting: Uint8Array | undefined

  constructor (client: S3Client, key: string) {
    this.#client = client
    this.#key = key
  }

  async add (part: Uint8Array): Promise<void> {
    if (part.length === PART_BYTES) await this.#send(part)
    else this.#waiting = part
  }

  async complete (): Promise<void> {
    const [last, key] = [this.#waiting, this.#key]
    if (this.#id === undefined) {
      await drain(this.#client.send({ method: 'PUT', key, body: last ?? '' }))
      return
    }
    if (last !== undefined) await this.#send(last)
    const parts = this.#etags.map(
      (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`
    )
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    const answer = await this.#client.send({ method: 'POST', key, parameters: { uploadId: this.#id }, body })
    // S3 sends the status before it joins the parts: an error may follow.
    const xml = await text(answer)
    if (elementsOf(xml, 'Error').length > 0) throw new S3Error('POST', answer.statusCode ?? 0, xml)
    if (elementsOf(xml, 'CompleteMultipartUploadResult').length === 0) {
      throw new NotOfBucket('it does not say that it has joined the parts of a file')
    }
  }

  /** Ignores a failure: the sweep deletes the parts, and the error of the writer is the one to report. */
  async abort (): Promise<void> {
    if (this.#id === undefined) return
    const parameters = { uploadId: this.#id }
    await drain(this.#client.send({ method: 'DELETE', key: this.#key, parameters })).catch(() => {})
  }

  async #send (body: Uint8Array): Promise<void> {
    const key = this.#key
    if (this.#id === undefined) {
      const answer = await this.#client.send({ method: 'POST', key, parameters: { uploads: '' } })
      const [id] = textsOf(await text(answer), 'UploadId')
      if (id === undefined) throw new NotOfBucket('it names no upload')
      this.#id = id
    }
    const parameters = { partNumber: this.#etags.length + 1, uploadId: this.#id }
    const { headers } = await drain(this.#client.send({ method: 'PUT', key, parameters, body }))
    this.#etags.push(headers.etag ?? '')
  }
}

/** Reads the answer to its end: only then the connection is used again. */
async function drain (sending: Promise<IncomingMessage>): Promise<IncomingMessage> {
  return (await sending).resume()
}

async function orUndefined (sending: Promise<IncomingMessage>): Promise<IncomingMessage | undefined> {
  return await sending.catch(undefinedIf(NOT_FOUND))
}

function undefinedIf (status: number) {
  return (error: unknown): undefined => {
    if (!(error instanceof S3Error && error.status === status)) throw error
  }
}
