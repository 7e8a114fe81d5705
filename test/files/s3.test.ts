import { text } from 'node:stream/consumers'
import t from 'tap'
import { readBucket } from '../../src/files/s3/address.ts'
import { createS3Client, textsOf } from '../../src/files/s3/client.ts'
import { openStorage } from '../../src/files/url-schemes.ts'
import { testFileStorage } from '../contracts/file-storage-contract.ts'
import { startS3Server } from '../helpers/s3-server.ts'

const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
const readerOf = (variables: { readonly [name: string]: string }) => async (name: string) => variables[name]

testFileStorage('a bucket', async (t) => {
  const { url, environment, incomplete } = await startS3Server(t)
  const readVariable = readerOf(environment)
  const client = createS3Client(await readBucket(url, readVariable))
  const complete = async () => {
    const listed = await client.send({ method: 'GET', parameters: { 'list-type': 2 } })
    return textsOf(await text(listed), 'Key')
  }
  return {
    storage: await openStorage(url, readVariable),
    list: async () => [...await complete(), ...await incomplete()]
  }
})

t.test('the URL and the usual variables say where the bucket is', async (t) => {
  const read = async (text: string, variables = {}) => {
    return await readBucket(text, readerOf({ ...KEYS, ...variables }))
  }
  t.match(await read('s3://files'), {
    url: 'https://files.s3.us-east-1.amazonaws.com', prefix: '', region: 'us-east-1', sessionToken: undefined
  })
  t.match(await read('s3://my.files/a/b/', { AWS_REGION: 'eu-central-1', AWS_SESSION_TOKEN: 'token' }), {
    url: 'https://s3.eu-central-1.amazonaws.com/my.files', prefix: 'a/b/', sessionToken: 'token'
  })
  t.match(await read('s3://files?endpoint=https://s3.example.com/&region=x', { AWS_REGION: 'y' }), {
    url: 'https://s3.example.com/files', region: 'x'
  })
  const variables = { AWS_ENDPOINT_URL: 'http://minio:9000' }
  t.match(await read('s3://files', variables), { url: 'http://minio:9000/files' })
})

t.test('a missing variable and a wrong URL are named', async (t) => {
  const none = readerOf({})
  await t.rejects(readBucket('s3://files', none), {
    message: 'TRIVET_FILES_URL is a bucket, and AWS_ACCESS_KEY_ID is missing: set it, or ' +
      'AWS_ACCESS_KEY_ID_FILE to the path of a file'
  })
  const wrong = { message: /has the parameter acl: expected region or/ }
  await t.rejects(readBucket('s3://files?acl=public', none), wrong)
  await t.rejects(readBucket('s3://files?endpoint=minio', none), { message: /endpoint must be an http:\/\// })
})

t.test('what the bucket refuses is an error with its status and its reason', async (t) => {
  const { url } = await startS3Server(t)
  const storage = await openStorage(url, readerOf({ ...KEYS, AWS_ACCESS_KEY_ID: 'S3RVER' }))
  await t.rejects(storage.has('a'), { name: 'S3Error', status: 403 })
  await t.rejects(storage.read('a'), { message: /^the bucket answered 403 to GET: \w+, \w/ })
})
