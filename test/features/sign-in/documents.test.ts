// The metadata documents of clients: which are read, and what a host of one can do.

import { setTimeout as pause } from 'node:timers/promises'
import { errors } from 'oidc-provider'
import t, { type Test } from 'tap'
import { createDocuments, type ClientRules } from '../../../src/features/sign-in/engine/documents.ts'
import { createPublicFetch } from '../../../src/features/sign-in/engine/public-fetch.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { hasOpenssl } from '../../helpers/certificates.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { startDocumentServer } from './document-server.ts'

const ANY: Omit<ClientRules, 'registration'> = { documents: new Map() }

async function openDocuments (t: Test, rules = ANY) {
  const server = await startDocumentServer(t)
  const { logger: log, lines } = createReadableLog()
  return { ...server, lines, documents: createDocuments({ ...rules, log, fetch: server.fetch }) }
}

const UNREADABLE = /cannot be read/

/** Resolves to what a person reads of a client that may not sign people in. */
async function readRefusal (check: Promise<void>): Promise<string> {
  return await check.then(() => 'it is not refused', (error: unknown) => (
    error instanceof errors.InvalidClient ? error.error_description ?? '' : String(error)
  ))
}

t.test('has only what counts of a document, and its lifetime', async (t) => {
  if (!hasOpenssl(t)) return
  const { documents, answers, asked, origin } = await openDocuments(t)
  const id = `${origin}/client.json`
  const document = { client_id: id, client_name: 'A client', redirect_uris: ['https://client.example/back'] }
  answers.set('/client.json', (_, response) => {
    response.writeHead(200, { 'cache-control': 'max-age=600', 'x-other': 'other' })
    response.end(JSON.stringify({ ...document, scope: 'all', application_type: 'web', logo_uri: 'http://x' }))
  })
  await documents.check(id)
  const answer = await documents.fetch(id)
  t.strictSame(await answer.json(), document)
  t.equal(answer.headers.get('cache-control'), 'max-age=600')
  t.strictSame(asked, ['/client.json'], 'which one request has brought')
})

t.test('asks once for all who wait, and again after half a minute', async (t) => {
  const time = new VirtualTime(t)
  let asked = 0
  const { logger: log } = createReadableLog()
  const documents = createDocuments({
    ...ANY,
    log,
    async fetch () {
      asked++
      throw new Error('status 403')
    }
  })
  const id = 'https://client.example/client.json'
  const checks = Array.from({ length: 1000 }, async () => await documents.check(id))
  const results = await Promise.allSettled(checks)
  t.ok(results.every(({ status }) => status === 'rejected'))
  t.match(await readRefusal(documents.check(id)), UNREADABLE)
  t.equal(asked, 1, 'a failure counts for a while')
  time.skip(30_001)
  t.match(await readRefusal(documents.check(id)), UNREADABLE)
  t.equal(asked, 2)
})

t.test('one network waits for few documents, and keeps nobody else out', async (t) => {
  let asked = 0
  const { logger: log } = createReadableLog()
  const documents = createDocuments({
    ...ANY,
    log,
    async fetch () {
      asked++
      return await new Promise(() => {})
    }
  })
  const ask = async (name: string, network: string) => await documents.check(`https://client.example/${name}`, network)
  for (let index = 0; index < 20; index++) ask(`${index}`, 'a network').catch(() => {})
  t.match(await readRefusal(ask('one-more', 'a network')), /Too many/)
  ask('other', 'another network').catch(() => {})
  t.equal(asked, 21)
})

t.test('says why in the log, and what the operator can do to people', async (t) => {
  if (!hasOpenssl(t)) return
  const { documents, lines, answers, origin } = await openDocuments(t)
  answers.set('/forbidden', (_, response) => { response.writeHead(403).end('no robots') })
  t.match(await readRefusal(documents.check(`${origin}/forbidden`)), /pin a copy in sign-in\.yaml/)
  t.match(lines, [{ level: 40, url: `${origin}/forbidden`, reason: 'status 403' }])
})

t.test('follows no redirect', async (t) => {
  if (!hasOpenssl(t)) return
  const { documents, answers, asked, origin } = await openDocuments(t)
  for (const status of [301, 302, 303, 307, 308]) {
    answers.set(`/${status}`, (_, response) => {
      response.writeHead(status, { location: 'https://127.0.0.1/latest/meta-data' }).end()
    })
    t.match(await readRefusal(documents.check(`${origin}/${status}`)), UNREADABLE)
  }
  t.equal(asked.length, 5)
})

t.test('reads no more than it must of a document that is large, or never ends', async (t) => {
  if (!hasOpenssl(t)) return
  const { documents, answers, origin, lines } = await openDocuments(t)
  let sent = 0
  answers.set('/large', (_, response) => {
    response.writeHead(200)
    const send = () => {
      while (!response.destroyed && sent < 10_000_000 && response.write(' '.repeat(10_000))) sent += 10_000
      if (!response.destroyed) response.once('drain', send)
    }
    send()
  })
  let isClosed = false
  answers.set('/endless', (_, response) => {
    response.writeHead(200).write('{')
    const timer = setInterval(() => response.write(' '), 20)
    response.once('close', () => {
      isClosed = true
      clearInterval(timer)
    })
  })
  answers.set('/silent', () => {})
  t.match(await readRefusal(documents.check(`${origin}/large`)), UNREADABLE)
  t.ok(sent < 5_000_000, `${sent} bytes were sent`)
  const begin = performance.now()
  const checks = ['endless', 'silent'].map(async (path) => await documents.check(`${origin}/${path}`))
  t.match(await Promise.all(checks.map(readRefusal)), [UNREADABLE, UNREADABLE])
  t.ok(performance.now() - begin < 8000)
  await pause(100)
  t.ok(isClosed, 'the connection is closed')
  t.match(lines[0], { reason: /more than 32768 bytes/ })
})

t.test('goes to no private address, whatever the name says', async (t) => {
  const { logger: log, lines } = createReadableLog()
  const hosts = new Map([
    ['inside.example', '10.0.0.1'], ['clouds.example', '169.254.169.254'], ['six.example', 'fd00::1'],
    ['mapped.example', '::ffff:127.0.0.1'], ['self.example', '127.0.0.1']
  ])
  const fetch = createPublicFetch({
    resolveHost: (host, _, callback) => callback(null, [
      { address: '93.184.215.14', family: 4 },
      { address: hosts.get(host) ?? '127.0.0.1', family: hosts.get(host)?.includes(':') === true ? 6 : 4 }
    ])
  })
  const documents = createDocuments({ ...ANY, log, fetch })
  const names = [
    ...hosts.keys(), 'localhost', '127.0.0.1', '[::1]', '10.1.2.3', '[::ffff:a00:1]', '169.254.169.254'
  ]
  for (const host of names) {
    const refusal = await readRefusal(documents.check(`https://${host}/x`))
    t.match(refusal, UNREADABLE, host)
    t.notMatch(refusal, /private/, 'a stranger learns no names of a private network')
  }
  t.match(lines[0], { reason: 'its host has a private address' })
})

t.test('a URL must be written as browsers write it, and have a path', async (t) => {
  const { logger: log } = createReadableLog()
  const documents = createDocuments({ ...ANY, log, fetch: async () => Response.json({}) })
  const refused = [
    'https://client.example', 'https://client.example/', 'https://CLIENT.example/x', 'HTTPS://client.example/x',
    'https://client.example:443/x', 'https://client.example/a/../x', 'https://client.example/./x',
    'https://client.example/%2e%2e/x', 'https://client.example\\x', 'https://clıent.example/x',
    'https://client.example/a b', 'https://0x7f.1/x'
  ]
  for (const id of refused) t.match(await readRefusal(documents.check(id)), /browsers/, id)
  await documents.check('https://client.example/x')
})

t.test('the operator can allow hosts, and pin copies', async (t) => {
  const pinned = { client_id: 'https://pinned.example/x', redirect_uris: ['https://pinned.example/back'] }
  const asked: string[] = []
  const documents = createDocuments({
    allowedHosts: ['client.example'],
    documents: new Map([[pinned.client_id, pinned]]),
    log: createReadableLog().logger,
    async fetch (url) {
      asked.push(url)
      return Response.json({})
    }
  })
  await documents.check('https://client.example/x')
  const others = ['other.example', 'client.example:8443', 'client.example.evil.example', 'sub.client.example']
  for (const host of others) {
    t.match(await readRefusal(documents.check(`https://${host}/x`)), /not allowed/, host)
  }
  await documents.check(pinned.client_id)
  t.strictSame(await (await documents.fetch(pinned.client_id)).json(), pinned)
  t.strictSame(asked, ['https://client.example/x'])
})
