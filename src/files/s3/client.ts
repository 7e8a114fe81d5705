// The requests to a bucket, by the REST interface of S3. The library signs them.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html

import { request as requestPlainly, type IncomingMessage } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { text } from 'node:stream/consumers'
import { AwsClient } from 'aws4fetch'
import { timers } from '../../base/time.ts'
import type { Bucket } from './address.ts'

type Parameters = { readonly [name: string]: string | number | undefined }

export interface S3Request {
  readonly method: string
  /** Without the prefix. None for a request to the bucket. */
  readonly key?: string
  readonly parameters?: Parameters
  readonly headers?: { readonly [name: string]: string }
  readonly body?: Uint8Array | string
}

export interface S3Client {
  /** Rejects with an S3Error unless the status is below 300. The caller must read the answer. */
  send (request: S3Request): Promise<IncomingMessage>
}

/** How often a request is sent again after a status of 500 or more, and after a lost connection. */
const RETRIES = 3
const RETRY_MS = 100
/** How long the server may send and take nothing, in milliseconds. */
const IDLE_MS = 60_000
/** The error of a server is XML of a few hundred characters. */
const MAX_ERROR_LENGTH = 300

/** The bucket refused a request. */
export class S3Error extends Error {
  readonly status: number

  constructor (method: string, status: number, answer: string) {
    const [, code = 'no code'] = /<Code>([^<]*)/.exec(answer) ?? []
    const [, said = answer.slice(0, MAX_ERROR_LENGTH)] = /<Message>([^<]*)/.exec(answer) ?? []
    // The answer to HEAD has no body.
    const reason = answer === '' ? '' : `: ${code}, ${said}`
    super(`the bucket answered ${status} to ${method}${reason}`)
    this.name = 'S3Error'
    this.status = status
  }
}

export function createS3Client ({ url, prefix, region, ...bucket }: Bucket): S3Client {
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
      for (let tries = 0; ; tries++) {
        const isLast = tries === RETRIES
        try {
          const signed = await client.sign(address, { method, headers })
          const response = await transmit(signed, body)
          const { statusCode: status = 0 } = response
          if (status < 300) return response
          const error = new S3Error(method, status, await text(response))
          if (status < 500 || status === 501 || isLast) throw error
        } catch (error) {
          // A request that creates something may have been served before its connection was lost.
          if (error instanceof S3Error || isLast || method === 'POST') throw error
        }
        await timers.pause(RETRY_MS * 2 ** tries)
      }
    }
  }
}

/** `fetch` would copy each part of a file. */
async function transmit (
  { url, method, headers }: Request, body: S3Request['body']
): Promise<IncomingMessage> {
  const request = url.startsWith('https:') ? requestSecurely : requestPlainly
  return await new Promise((resolve, reject) => {
    const sending = request(url, { method, headers: Object.fromEntries(headers), timeout: IDLE_MS }, resolve)
    sending.once('error', reject)
    sending.once('timeout', () => sending.destroy(new Error(`the bucket was silent for ${IDLE_MS} ms`)))
    sending.end(body)
  })
}

/** The library signs a plus as a space. */
function toPath (key: string): string {
  return encodeURI(key).replaceAll('+', '%2B')
}

/** The texts of all elements of this name. */
export function textsOf (xml: string, element: string): string[] {
  const pattern = new RegExp(`<${element}>([^<]*)</${element}>`, 'g')
  return Array.from(xml.matchAll(pattern), ([, found = '']) => unescapeXml(found))
}

/** Of the characters that XML escapes, the prefix in a URL may have only these two. */
function unescapeXml (text: string): string {
  return text.replaceAll(/&(?:apos|#39|#x27);/g, "'").replaceAll(/&(?:amp|#38|#x26);/g, '&')
}
