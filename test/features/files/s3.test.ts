import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAccounts } from '../../../src/features/files/accounts.ts'
import { createKeptFiles } from '../../../src/features/files/kept-files.ts'
import { readBucket } from '../../../src/features/files/s3/address.ts'
import { createS3Client, textsOf } from '../../../src/features/files/s3/client.ts'
import { createStorageKey, type FileStorage } from '../../../src/features/files/storage.ts'
import { openStorage } from '../../../src/features/files/url-schemes.ts'
import { ArrivingBytes } from '../../../src/platform/limits/arriving-bytes.ts'
import { Limit } from '../../../src/platform/limits/limits.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import { testFileStorage } from '../../contracts/file-storage-contract.ts'
import { until } from '../../helpers/deadline.ts'
import { hasS3Server, startS3Server, type S3Server } from '../../servers/s3-server.ts'

const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
const TWO_HOURS_MS = 7_200_000
const DAY_MS = 86_400_000
const readerOf = (variables: { readonly [name: string]: string }) => async (name: string) => variables[name]
async function * chunks (...bytes: readonly Uint8Array[]) { yield * bytes }
async function read (storage: FileStorage, key: string): Promise<Buffer> {
  const stream = await storage.read(key)
  if (stream === undefined) throw new Error(`there is no file ${key}`)
  return await buffer(stream)
}

if (hasS3Server(t)) testBuckets(await startS3Server(t))

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
  t.match(await read('s3://files/pre%20fix/ä%2Fb%25'), { prefix: 'pre fix/ä/b%/' }, 'the path is decoded once')
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
  await t.rejects(readBucket('s3://files/100%', none), { message: /the path \/100% has a % that begins no/ })
  await t.rejects(readBucket('s3://files?endpoint=minio', none), { message: /endpoint must be an http:\/\// })
})

t.test('the path of a request is escaped once', async (t) => {
  const paths: Array<string | undefined> = []
  const endpoint = await serve(t, ({ url }, response) => {
    paths.push(url)
    response.setHeader('etag', '"a"').end()
  })
  const bucket = await readBucket(`s3://files/a%20b/ä%25%3F%23/+?endpoint=${endpoint}`, readerOf(KEYS))
  ;(await createS3Client(bucket).send({ method: 'GET', key: 'k' })).resume()
  t.strictSame(paths, ['/files/a%20b/%C3%A4%25%3F%23/%2B/k'])
})

t.test('a sweep ends although the bucket still lists what was deleted', async (t) => {
  const key = createStorageKey(Date.now() - 1000)
  const deleted: string[] = []
  const endpoint = await serve(t, ({ method, url = '' }, response) => {
    if (method === 'DELETE') deleted.push(url)
    const { searchParams } = new URL(url, 'http://localhost')
    const isListed = searchParams.has('list-type') && (searchParams.get('start-after') ?? '') < key
    response.end(isListed ? `<ListBucketResult><Key>${key}</Key></ListBucketResult>` : '')
  })
  const storage = await openStorage(`s3://files?endpoint=${endpoint}`, readerOf(KEYS))
  t.equal(await storage.sweep(Date.now()), 1)
  t.strictSame(deleted, [`/files/${key}`])
})

t.test('a sweep reads each upload by itself, in any order of its elements', async (t) => {
  const now = Date.now()
  const [old, young] = [createStorageKey(now + DAY_MS), createStorageKey(now + DAY_MS)]
  const dateOf = (time: number) => new Date(time).toISOString()
  const deleted: string[] = []
  const endpoint = await serve(t, ({ method, url = '' }, response) => {
    if (method === 'DELETE') deleted.push(url)
    const listing = `<?xml version="1.0"?>
      <ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Bucket>files</Bucket><KeyMarker/><Prefix>a&amp;b/</Prefix>
        <Upload><Key>a&#38;b/without-a-date</Key><UploadId>0</UploadId></Upload>
        <Upload><UploadId>1</UploadId><Key>a&#x26;b/${young}</Key><Initiated>${dateOf(now)}</Initiated></Upload>
        <Upload><Initiated>${dateOf(0)}</Initiated><Key>a&amp;b/${old}</Key><UploadId>2</UploadId></Upload>
      </ListMultipartUploadsResult>`
    response.end(url.includes('uploads') ? listing : '')
  })
  const storage = await openStorage(`s3://files/a&b?endpoint=${endpoint}`, readerOf(KEYS))
  t.equal(await storage.sweep(now), 0)
  t.strictSame(deleted, [`/files/a&b/${old}?uploadId=2`])
})

t.test('a range is sent although the bucket ignores it', async (t) => {
  const endpoint = await serve(t, (_, response) => { response.setHeader('etag', '"a"').end('0123456789') })
  const storage = await openStorage(`s3://files?endpoint=${endpoint}`, readerOf(KEYS))
  const stream = await storage.read('a', { start: 2, end: 4 })
  t.equal(stream && String(await buffer(stream)), '234')
})

t.test('a page in place of an answer of the bucket keeps, joins and reads no file', async (t) => {
  const page = '<html><h1>Log in</h1></html>'
  const large = () => chunks(randomBytes(7_000_000))
  const open = async (answer: (kind: string) => string | undefined) => {
    const endpoint = await serve(t, (request, response) => {
      request.resume().on('end', () => {
        const query = request.url?.split('?')[1] ?? ''
        const kind = [request.method, ...query === '' ? [] : [query.replace(/=.*/, '')]].join(' ')
        const body = answer(kind)
        if (body === undefined) response.setHeader('etag', '"a"').end('<A><UploadId>1</UploadId></A>')
        else response.end(body)
      })
    })
    return await openStorage(`s3://files?endpoint=${endpoint}`, readerOf(KEYS))
  }
  const always = await open(() => page)
  const isNotOfBucket = { name: 'NotOfBucket' }
  await t.rejects(always.write('a', chunks(randomBytes(1))), {
    ...isNotOfBucket, message: "the answer is not a bucket's: it has status 200 to PUT, and no ETag"
  })
  await t.rejects(always.write('a', large()), { ...isNotOfBucket, message: /names no upload/ })
  await t.rejects(always.read('a'), isNotOfBucket)
  await t.rejects(always.has('a'), isNotOfBucket)
  const atParts = await open((kind) => kind === 'PUT partNumber' ? page : undefined)
  await t.rejects(atParts.write('a', large()), isNotOfBucket)
  const atEnd = await open((kind) => kind === 'POST uploadId' ? page : undefined)
  await t.rejects(atEnd.write('a', large()), { ...isNotOfBucket, message: /does not say that it has joined/ })
})

/** A file whose sender stops after these bytes. */
async function * stopAfter (bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536))
  await new Promise(() => {})
}

t.test('a file that comes slowly takes little more memory than has come of it', async (t) => {
  const storage = await openStorage('s3://files?endpoint=http://127.0.0.1:1', readerOf(KEYS))
  const before = process.memoryUsage().arrayBuffers
  for (let files = 0; files < 100; files++) storage.write(String(files), stopAfter(1)).catch(() => {})
  await pause(50)
  const bytes = process.memoryUsage().arrayBuffers - before
  t.ok(bytes < 20_000_000, `100 files have ${bytes} bytes`)
})

t.test('parts that wait in memory give way to others, the oldest of the heaviest sender first', async (t) => {
  const endpoint = await serve(t, (request, response) => {
    request.resume().on('end', () => response.setHeader('etag', '"a"').end())
  })
  const storage = await openStorage(`s3://files?endpoint=${endpoint}`, readerOf(KEYS))
  const store = createMemoryStateStore()
  const parts = new ArrivingBytes(new Limit('partBytes', 20_000_000))
  const kept = createKeptFiles(storage, createAccounts(store, 1e9, Date.now), parts)
  const keep = async (owner: string, bytes: AsyncIterable<Uint8Array>) => {
    return await kept.keep({ owner: { owner }, bytes, maxBytes: 1e9, expiresAt: Date.now() + DAY_MS })
  }
  const outcomes: string[] = []
  for (let files = 0; files < 5; files++) {
    keep('mallory', stopAfter(3_000_000)).catch(({ cause }) => outcomes.push(`${files}: ${cause.message}`))
    await until(() => parts.total >= Math.min(4, files + 1) * 4_000_000, 'the bytes of a file')
  }
  t.strictSame(await keep('ada', chunks(randomBytes(3_000_000))).then(({ size }) => size), 3_000_000)
  t.ok(outcomes.length >= 1, 'the first ones have ended at once, although their senders have not')
  t.match(outcomes[0], /^0: Too many bytes of parts of files of yours on this replica \(10000000\)/)
  t.ok(parts.total <= 20_000_000)
  const names = await store.list('files-mallory')
  t.equal(names.size, 5 - outcomes.length, 'what was refused does not count')
})

t.test('a bucket that is silent is asked on one other connection', async (t) => {
  const asked = new Map<string, number>()
  const endpoint = await serve(t, ({ method = '' }) => { asked.set(method, (asked.get(method) ?? 0) + 1) })
  const bucket = await readBucket(`s3://files?endpoint=${endpoint}`, readerOf(KEYS))
  const client = createS3Client(bucket, { silenceMs: 100 })
  const begun = performance.now()
  await t.rejects(client.send({ method: 'GET', key: 'a' }), { message: 'the bucket was silent for 100 ms' })
  await t.rejects(client.send({ method: 'PUT', key: 'a', body: 'b' }), { name: 'BucketSilent' })
  await t.rejects(client.send({ method: 'POST', key: 'a' }), { message: 'the bucket was silent for 300 ms' })
  t.strictSame([...asked], [['GET', 2], ['PUT', 2], ['POST', 1]], 'a POST may have been served')
  t.ok(performance.now() - begun < 5000)
})

t.test('the text of an element has its entities decoded', (t) => {
  const xml = '<Key>&lt;a&gt; &quot;b&quot; &apos;c&#39; &#x1F600; &amp;lt; &nbsp; &#1114112;</Key>' +
    '<Key /><Keys>d</Keys>'
  t.strictSame(textsOf(xml, 'Key'), ['<a> "b" \'c\' \u{1F600} &lt; &nbsp; &#1114112;', ''])
  t.end()
})

/** Starts a server that answers like a bucket. Returns its URL. */
async function serve (t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`
}

function testBuckets ({ environment, createBucket }: S3Server): void {
  const readVariable = readerOf(environment)

  testFileStorage(t, 'a bucket', async () => {
    const { url, list } = await createBucket()
    return { storage: await openStorage(url, readVariable), list }
  })

  for (const prefix of ['', 'a&b+c', 'a%20b/ä%25', "it's=$(1);@,:!*~"]) {
    t.test(`files under the prefix "${prefix}" are kept and swept`, async (t) => {
      const { url, list } = await createBucket(prefix)
      const storage = await openStorage(url, readVariable)
      const now = Date.now()
      const bytes = randomBytes(7_000_000)
      const expired = createStorageKey(now - 1000)
      await storage.write(expired, chunks(bytes))
      t.ok((await read(storage, expired)).equals(bytes))
      const client = createS3Client(await readBucket(url, readVariable))
      const abandoned = createStorageKey(now + DAY_MS)
      ;(await client.send({ method: 'POST', key: abandoned, parameters: { uploads: '' } })).resume()
      t.equal((await list()).length, 2)
      t.equal(await storage.sweep(now + TWO_HOURS_MS), 1)
      t.strictSame(await list(), [])
    })
  }

  t.test('a sweep deletes more files than the bucket lists at once', async (t) => {
    const { url, list } = await createBucket()
    const storage = await openStorage(url, readVariable)
    const now = Date.now()
    const expired = Array.from({ length: 25 }, () => createStorageKey(now - 1000))
    const kept = createStorageKey(now + 1000)
    for (const key of [...expired, kept]) await storage.write(key, chunks(randomBytes(1)))
    t.equal(await storage.sweep(now), 25)
    t.equal(await storage.sweep(now), 0)
    t.strictSame(await list(), [`kept/by-trivet/${kept}`])
  })

  t.test('a sweep goes on when an upload ends before the sweep can abort it', async (t) => {
    const { url, list } = await createBucket()
    const storage = await openStorage(url, readVariable)
    const client = createS3Client(await readBucket(url, readVariable))
    const now = Date.now()
    for (let uploads = 0; uploads < 5; uploads++) {
      const key = createStorageKey(now + DAY_MS)
      ;(await client.send({ method: 'POST', key, parameters: { uploads: '' } })).resume()
    }
    await storage.write(createStorageKey(now - 1000), chunks(randomBytes(1)))
    // Both list the same uploads, and each upload can be aborted once.
    await Promise.all([storage.sweep(now + TWO_HOURS_MS), storage.sweep(now + TWO_HOURS_MS)])
    t.strictSame(await list(), [])
  })

  t.test('credentials that expire sign every request', async (t) => {
    const { url } = await createBucket()
    const variables = { ...environment, AWS_SESSION_TOKEN: 'a/token+of=S3' }
    const storage = await openStorage(url, readerOf(variables))
    const key = createStorageKey(Date.now() + DAY_MS)
    await storage.write(key, chunks(randomBytes(7_000_000)))
    t.equal((await read(storage, key)).length, 7_000_000)
  })

  t.test('what the bucket refuses is an error with its status and its reason', async (t) => {
    const { url } = await createBucket()
    const open = async (url: string, more = {}) => {
      return await openStorage(url, readerOf({ ...environment, ...more }))
    }
    const stranger = await open(url, { AWS_SECRET_ACCESS_KEY: 'wrong' })
    await t.rejects(stranger.has('a'), {
      name: 'S3Error', status: 403, message: /^the bucket answered 403 to HEAD$/
    })
    await t.rejects(stranger.read('a'), {
      message: /^the bucket answered 403 to GET: SignatureDoesNotMatch, The request signature/
    })
    const elsewhere = await open(url.replace('eu-central-1', 'us-west-2'))
    const message = /the region 'us-west-2' is wrong; expecting 'eu-central-1'/
    await t.rejects(elsewhere.read('a'), { message })
    const nowhere = await open(url.replace('s3://files', 's3://missing'))
    await t.rejects(nowhere.write('a', chunks(randomBytes(1))), { message: /404 to PUT: NoSuchBucket/ })
    await t.rejects(nowhere.sweep(Date.now()), { message: /404 to GET: NoSuchBucket/ })
  })
}
