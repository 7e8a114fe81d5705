// Files in a bucket of S3, or of a server with the same interface. The keys sort by their expiry, so a sweep
// lists only the expired ones. A file is one object: its parts are sent one after the other as they come.

import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ReadVariable } from '../storage-kind.ts'
import { ABANDONED_MS, expiryOf, type FileStorage } from '../storage.ts'
import { readBucket } from './address.ts'
import { createS3Client, S3Error, textsOf, type S3Client } from './client.ts'

/** S3 takes parts of 5 MiB or more, and 10,000 of them: 58 GiB. One part is in memory for each writer. */
const PART_BYTES = 6_291_456

const NOT_FOUND = 404
/** Some servers cannot list uploads that are not complete. */
const NOT_IMPLEMENTED = 501

export async function openS3Storage (url: string, readVariable: ReadVariable): Promise<FileStorage> {
  const bucket = await readBucket(url, readVariable)
  const client = createS3Client(bucket)
  const { prefix } = bucket

  return {
    async write (key, source) {
      const upload = new Upload(client, key)
      try {
        for await (const part of toParts(source)) await upload.add(part)
        await upload.complete()
      } catch (error) {
        await upload.abort()
        throw error
      }
    },
    async read (key, range) {
      const headers = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` }
      return await orUndefined(client.send({ method: 'GET', key, headers }))
    },
    async has (key) {
      return (await orUndefined(client.send({ method: 'HEAD', key })))?.resume() !== undefined
    },
    async delete (key) {
      await remove(key)
    },
    async sweep (now) {
      await abortAbandoned(now)
      let count = 0
      let last: string | undefined
      for (;;) {
        const keys = await listAfter(last)
        const expired = keys.filter((key) => (expiryOf(key) ?? Infinity) < now)
        for (const key of expired) await remove(key)
        count += expired.length
        // The first keys expire first.
        if (expired.length === 0 || expired.length < keys.length) return count
        last = expired.at(-1)
      }
    },
    async close () {}
  }

  /** Another replica may delete the same file, and a writer may end the same upload. */
  async function remove (key: string, parameters = {}): Promise<void> {
    (await orUndefined(client.send({ method: 'DELETE', key, parameters })))?.resume()
  }

  /** The first keys, or those after this key: a bucket may still list what was just deleted. */
  async function listAfter (last: string | undefined): Promise<string[]> {
    const after = last === undefined ? undefined : prefix + last
    const parameters = { 'list-type': 2, prefix, 'max-keys': 1000, 'start-after': after }
    const listed = await client.send({ method: 'GET', parameters })
    return textsOf(await text(listed), 'Key').map((key) => key.slice(prefix.length))
  }

  /** Deletes the parts of writers that were killed. */
  async function abortAbandoned (now: number): Promise<void> {
    const listed = await client.send({ method: 'GET', parameters: { uploads: '', prefix } })
      .catch(undefinedIf(NOT_IMPLEMENTED))
    if (listed === undefined) return
    const xml = await text(listed)
    const [keys, ids, begun] = [textsOf(xml, 'Key'), textsOf(xml, 'UploadId'), textsOf(xml, 'Initiated')]
    for (const [index, key] of keys.entries()) {
      const isAbandoned = Date.parse(begun[index] ?? '') < now - ABANDONED_MS
      if (isAbandoned && expiryOf(key.slice(prefix.length)) !== undefined) {
        await remove(key.slice(prefix.length), { uploadId: ids[index] })
      }
    }
  }
}

/** One file on its way to the bucket. A file of one part needs one request. */
class Upload {
  readonly #client: S3Client
  readonly #key: string
  #id: string | undefined
  readonly #etags: string[] = []
  /** Sent with the next part, or alone if it is the only one. */
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
    // S3 sends its status before it has put the parts together.
    const said = await text(answer)
    if (said.includes('<Error>')) throw new S3Error('POST', answer.statusCode ?? 0, said)
  }

  /** A failure leaves parts, which the sweep deletes: the error of the writer is the one to report. */
  async abort (): Promise<void> {
    if (this.#id === undefined) return
    const parameters = { uploadId: this.#id }
    await drain(this.#client.send({ method: 'DELETE', key: this.#key, parameters })).catch(() => {})
  }

  async #send (body: Uint8Array): Promise<void> {
    const key = this.#key
    if (this.#id === undefined) {
      const begun = await this.#client.send({ method: 'POST', key, parameters: { uploads: '' } })
      ;[this.#id = ''] = textsOf(await text(begun), 'UploadId')
    }
    const parameters = { partNumber: this.#etags.length + 1, uploadId: this.#id }
    const { headers } = await drain(this.#client.send({ method: 'PUT', key, parameters, body }))
    this.#etags.push(headers.etag ?? '')
  }
}

/** Parts of PART_BYTES. The last one is smaller, and may be missing. Each part uses the same memory. */
async function * toParts (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(PART_BYTES)
  let used = 0
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + PART_BYTES - used)
      buffer.set(piece, used)
      at += piece.length
      used += piece.length
      if (used === PART_BYTES) {
        yield buffer
        used = 0
      }
    }
  }
  if (used > 0) yield buffer.subarray(0, used)
}

/** The connection is used again once the answer is read. */
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
