// The requests to a bucket, by the REST interface of S3. The library signs them.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html

import { AwsClient } from 'aws4fetch'
import type { Bucket } from './address.ts'

type Parameters = { readonly [name: string]: string | number | undefined }

export interface S3Request {
  readonly method: string
  /** Without the prefix. None for a request to the bucket. */
  readonly key?: string
  readonly parameters?: Parameters
  readonly headers?: { readonly [name: string]: string }
  readonly body?: Uint8Array<ArrayBuffer> | string
}

export interface S3Client {
  /** Rejects with an S3Error unless the status is below 300. */
  send (request: S3Request): Promise<Response>
}

/** How often a request is sent again after a status of 500 or more. */
const RETRIES = 3
/** The error of a server is XML of a few hundred characters. */
const MAX_ERROR_LENGTH = 300

/** The bucket refused a request. */
export class S3Error extends Error {
  readonly status: number

  constructor (method: string, status: number, text: string) {
    const [, code = 'no code'] = /<Code>([^<]*)/.exec(text) ?? []
    const [, said = text.slice(0, MAX_ERROR_LENGTH)] = /<Message>([^<]*)/.exec(text) ?? []
    super(`the bucket answered ${status} to ${method}: ${code}, ${said}`)
    this.name = 'S3Error'
    this.status = status
  }
}

export function createS3Client ({ url, prefix, region, ...bucket }: Bucket): S3Client {
  const { sessionToken, ...keys } = bucket
  const client = new AwsClient({
    ...keys, ...sessionToken !== undefined && { sessionToken }, service: 's3', region, retries: RETRIES
  })
  return {
    async send ({ method, key, parameters = {}, headers = {}, body }) {
      const address = new URL(key === undefined ? url : `${url}/${encodeURI(prefix + key)}`)
      for (const [name, value] of Object.entries(parameters)) {
        if (value !== undefined) address.searchParams.set(name, String(value))
      }
      const response = await client.fetch(address, {
        method, headers, ...body !== undefined && { body }
      })
      if (response.status < 300) return response
      throw new S3Error(method, response.status, await response.text())
    }
  }
}

/** The texts of all elements of this name. Keys and ids of this service need no unescaping. */
export function textsOf (xml: string, element: string): string[] {
  const pattern = new RegExp(`<${element}>([^<]*)</${element}>`, 'g')
  return Array.from(xml.matchAll(pattern), ([, text = '']) => text)
}
