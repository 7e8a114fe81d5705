// Reads the address and the credentials of a bucket, from TRIVET_FILES_URL and the usual variables.

import type { ReadVariable } from '../storage.ts'

export interface Bucket {
  /** The URL of the bucket, without a slash at its end. */
  readonly url: string
  /** The beginning of every key: empty, or with a slash at its end. */
  readonly prefix: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** The token of credentials that expire. */
  readonly sessionToken: string | undefined
}

const PARAMETERS = ['region', 'endpoint']

/** Rejects if the URL has another parameter, or if a variable is missing. */
export async function readBucket (text: string, readVariable: ReadVariable): Promise<Bucket> {
  const { hostname: bucket, pathname, searchParams } = new URL(text)
  for (const name of searchParams.keys()) {
    if (!PARAMETERS.includes(name)) {
      throw new Error(`TRIVET_FILES_URL has the parameter ${name}: expected ${PARAMETERS.join(' or ')}`)
    }
  }
  const parameter = (name: string) => searchParams.get(name) ?? undefined
  const region = parameter('region') ?? await readVariable('AWS_REGION') ??
    await readVariable('AWS_DEFAULT_REGION') ?? 'us-east-1'
  const endpoint = parameter('endpoint') ?? await readVariable('AWS_ENDPOINT_URL_S3') ??
    await readVariable('AWS_ENDPOINT_URL')
  const folder = decode(pathname.replace(/^\/+|\/+$/g, ''))
  return {
    url: endpoint === undefined ? toAmazonUrl(bucket, region) : `${toEndpoint(endpoint)}/${bucket}`,
    prefix: folder === '' ? '' : `${folder}/`,
    region,
    accessKeyId: await needed('AWS_ACCESS_KEY_ID'),
    secretAccessKey: await needed('AWS_SECRET_ACCESS_KEY'),
    sessionToken: await readVariable('AWS_SESSION_TOKEN')
  }

  async function needed (name: string): Promise<string> {
    const value = await readVariable(name)
    if (value !== undefined) return value
    throw new Error(`TRIVET_FILES_URL is a bucket, and ${name} is missing: ` +
      `set it, or ${name}_FILE to the path of a file`)
  }
}

function decode (path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new Error(`TRIVET_FILES_URL: the path /${path} has a % that begins no character: write %25 for it`)
  }
}

/** The certificate of Amazon does not cover the host name of a bucket with a dot. */
function toAmazonUrl (bucket: string, region: string): string {
  const host = `s3.${region}.amazonaws.com`
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`
}

function toEndpoint (text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    const expected = 'endpoint must be an http:// or https:// URL'
    throw new Error(`TRIVET_FILES_URL: ${expected}, got ${JSON.stringify(text)}`)
  }
  return text.replace(/\/+$/, '')
}
