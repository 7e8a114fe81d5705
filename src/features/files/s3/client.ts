// The requests to a bucket and its answers, by the REST interface of S3. The library signs the requests.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html

import { request as requestPlainly, type IncomingMessage } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { text } from 'node:stream/consumers'
import { AwsClient } from 'aws4fetch'
import { retry } from '../../../base/retry.ts'
import { cut } from '../../../base/text.ts'
import type { Bucket } from './address.ts'

type Parameters = { readonly [name: string]: string | number | undefined }

export interface S3Request {
  readonly method: string
  /** The key without the prefix. Absent for a request to the bucket. */
  readonly key?: string
  readonly parameters?: Parameters
  readonly headers?: { readonly [name: string]: string }
  readonly body?: Uint8Array | string
}

interface S3ClientOptions {
  /** How long a bucket may be silent before its answer begins, in milliseconds. 20,000 by default. */
  readonly silenceMs?: number
}

export interface S3Client {
  /** Rejects with an S3Error unless the status is below 300. The caller must read the answer. */
  send (request: S3Request): Promise<IncomingMessage>
}

/** The attempts after a status of 500 or more, and after a lost connection. */
const RETRIES = { attempts: 4, firstMs: 200, maxMs: 800 }
/**
 * How long a bucket may be silent before its answer begins, in milliseconds: also twice it is less than the
 * minute after which proxies give up.
 */
const SILENCE_MS = 20_000
/** A connection may have died. A bucket that is silent on two will not answer on a third one. */
const MAX_SILENCES = 2
/** To join the parts of a file, which is a POST, takes longer by this factor. */
const POST_FACTOR = 3
/** How long an answer may pause, in milliseconds: its reader may be slow. */
const PAUSE_MS = 60_000
/** What a bucket answers with an ETag. */
const TAGGED_METHODS = ['GET', 'HEAD', 'PUT']
/** The part of an answer without a message that an error quotes, in characters. */
const MAX_ERROR_LENGTH = 300
const ENTITY = /&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]+));/gi
const CHARACTERS = new Map([['amp', '&'], ['lt', '<'], ['gt', '>'], ['quot', '"'], ['apos', "'"]])

/** The bucket refused a request. */
export class S3Error extends Error {
  readonly status: number

  constructor (method: string, status: number, answer: string) {
    const [code = 'no code'] = textsOf(answer, 'Code')
    const [text = cut(answer, MAX_ERROR_LENGTH)] = textsOf(answer, 'Message')
    // The answer to HEAD has no body.
    const reason = answer === '' ? '' : `: ${code}, ${text}`
    super(`the bucket answered ${status} to ${method}${reason}`)
    this.name = 'S3Error'
    this.status = status
  }
}

/**
 * Something else answered in place of the bucket, such as a proxy with a page to log in. A file that it seems
 * to have taken would be lost.
 */
export class NotOfBucket extends Error {
  override readonly name = 'NotOfBucket'
  constructor (problem: string) { super(`the answer is not a bucket's: ${problem}`) }
}

class BucketSilent extends Error {
  override readonly name = 'BucketSilent'
  constructor (ms: number) { super(`the bucket was silent for ${ms} ms`) }
}

export function createS3Client (
  { url, prefix, region, ...bucket }: Bucket, { silenceMs = SILENCE_MS }: S3ClientOptions = {}
): S3Client {
  const { sessionToken, ...keys } = bucket
  const client = new AwsClient({
    ...keys, ...sessionToken !== undefined && { sessionToken }, service: 's3', region
  })

  return {
    async send ({ method, key, parameters = {}, headers = {}, body }) {
      const address = new URL(key === undefined ? url : `${url}/${toPath(prefix + key)}`)
      for (const [name, value] of Object.entries(parameters)) {
        if (value !== undefined) address.searchParams.set(name, String(value))
      }
      const attempt = async () => {
        const signed = await client.sign(address, { method, headers })
        const response = await transmit(signed, body, method === 'POST' ? POST_FACTOR * silenceMs : silenceMs)
        const { statusCode: status = 0, headers: { etag } } = response
        if (status >= 300) throw new S3Error(method, status, await text(response))
        if (key === undefined || etag !== undefined || !TAGGED_METHODS.includes(method)) return response
        response.destroy()
        throw new NotOfBucket(`it has status ${status} to ${method}, and no ETag`)
      }
      let silences = 0
      const mayRetry = (error: unknown) => error instanceof BucketSilent
        ? method !== 'POST' && ++silences < MAX_SILENCES
        : mayBeOver(error, method)
      return await retry(attempt, { ...RETRIES, mayRetry })
    }
  }
}

/** A lost POST is not repeated: the server may have served it, and would create a second upload. */
function mayBeOver (error: unknown, method: string): boolean {
  if (error instanceof NotOfBucket) return false
  return error instanceof S3Error ? error.status >= 500 && error.status !== 501 : method !== 'POST'
}

/** Not `fetch`: it would copy each part of a file. */
async function transmit (
  { url, method, headers }: Request, body: S3Request['body'], silenceMs: number
): Promise<IncomingMessage> {
  const request = url.startsWith('https:') ? requestSecurely : requestPlainly
  return await new Promise((resolve, reject) => {
    let timeout = silenceMs
    const sending = request(url, { method, headers: Object.fromEntries(headers), timeout }, (response) => {
      sending.setTimeout(timeout = PAUSE_MS)
      resolve(response)
    })
    // A connection may fail more than once: also after its answer has begun.
    sending.on('error', reject)
    sending.once('timeout', () => sending.destroy(new BucketSilent(timeout)))
    sending.end(body)
  })
}

/** Escapes what would end the path too, and the plus: the library signs it as a space. */
function toPath (key: string): string {
  return encodeURI(key).replaceAll(/[?#+]/g, encodeURIComponent)
}

/** Returns the content of each element of this name, as XML. An element must not contain one of its name. */
export function elementsOf (xml: string, name: string): string[] {
  const pattern = new RegExp(`<${name}(?:\\s[^>]*?)?(?:/>|>([^]*?)</${name}\\s*>)`, 'g')
  return Array.from(xml.matchAll(pattern), ([, content = '']) => content)
}

/** Returns the text of each element of this name. */
export function textsOf (xml: string, name: string): string[] {
  return elementsOf(xml, name).map((text) => text.replaceAll(ENTITY, decodeEntity))
}

function decodeEntity (entity: string, hex?: string, decimal?: string, name = ''): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : CHARACTERS.get(name) ?? entity
}
