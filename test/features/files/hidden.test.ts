// Links to the files of others: to each request they are links that do not exist.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createBearerAuthenticator } from '../../../src/platform/access/bearer-authenticator.ts'
import { AuthenticationError, type Authenticator } from '../../../src/platform/access/authentication.ts'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { outcomeOf, type Visit } from '../../helpers/outcome.ts'
import { send } from '../../helpers/request.ts'
import { call, FILES, linkIn, NAMES, pageIn, toForm } from './file-tools.ts'

const PUBLIC = { publicUrl: 'https://mcp.example.com/shop', allowedHosts: ['mcp.example.com'] }
const URL_MODE = {
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } }
}

async function build (t: Test, options: AppOptions = {}) {
  return await buildApp(t, FILES, {
    ...PUBLIC, authenticator: NAMES, filesUrl: `file:${await makeFolder(t)}`, ...options
  })
}

/** As long as the link, in the same letters. */
const toUnknown = (link: string) => link.replace(/[^/]{20}$/, 'A'.repeat(20))

/** What a client may try with a link. */
async function triesOf (etag: string): Promise<ReadonlyArray<Omit<Visit, 'url'>>> {
  const form = await toForm('a.txt', 'mine')
  return [
    { method: 'GET', headers: {} },
    { method: 'HEAD', headers: {} },
    { method: 'GET', headers: { range: 'bytes=0-0' } },
    { method: 'GET', headers: { range: 'bytes=900-' } },
    { method: 'GET', headers: { 'if-none-match': etag } },
    { method: 'GET', headers: { 'if-none-match': '*' } },
    { method: 'GET', headers: { 'if-range': etag, range: 'bytes=0-0' } },
    { method: 'GET', headers: { accept: 'application/json' } },
    { method: 'POST', ...form },
    { method: 'POST', headers: { 'content-type': 'application/json' }, payload: '{}' },
    { method: 'POST', headers: {}, payload: '' },
    { method: 'PUT', headers: {}, payload: 'x' },
    { method: 'DELETE', headers: {} }
  ]
}

async function makeLinks (app: Awaited<ReturnType<typeof build>>) {
  const file = linkIn(await call(app, 'put', { text: 'of ada', name: 'a.txt' }, { as: 'ada' }))
  const asked = await call(app, 'take', {}, { as: 'ada' })
  const { pathname } = new URL(file)
  const headers = { host: 'mcp.example.com' }
  const etag = String((await app.inject({ url: pathname, headers })).headers.etag)
  return { file, page: pageIn(asked), etag, requestState: String(asked.requestState) }
}

for (const token of ['optional', 'required'] as const) {
  t.test(`where tokens are ${token}, links of another caller do not exist`, async (t) => {
    const app = await build(t, { filesToken: token })
    const { file, page, etag } = await makeLinks(app)
    const bearers = ['Bearer bob', 'Bearer Ada', ...token === 'required' ? [undefined] : []]
    for (const link of [file, page]) {
      for (const authorization of bearers) {
        for (const { method, headers, ...rest } of await triesOf(etag)) {
          const visit = async (to: string) => {
            const { pathname, host } = new URL(to)
            const all = { host, ...headers, ...authorization !== undefined && { authorization } }
            return await outcomeOf(app, { method, url: pathname, headers: all, ...rest }, [pathname])
          }
          const answer = await visit(link)
          t.equal(answer, await visit(toUnknown(link)), `${method} ${JSON.stringify(headers)} ${authorization}`)
          t.match(answer, /^40[145]\n/)
        }
      }
    }
    const { pathname, host } = new URL(page)
    const form = await toForm('a.txt', 'of ada')
    const headers = { ...form.headers, host, authorization: 'Bearer ada' }
    const sent = await app.inject({ method: 'POST', url: pathname, payload: form.payload, headers })
    t.equal(sent.statusCode, 200, 'nobody has used up the link')
  })
}

t.test('a link that is over, or whose file is gone, looks like one that never was', async (t) => {
  const folder = await makeFolder(t)
  const app = await build(t, { filesUrl: `file:${folder}` })
  const { file: gone, etag } = await makeLinks(app)
  const short = linkIn(await call(app, 'put', { text: 'of ada', name: 'a.txt', ttlMs: 1000 }, { as: 'ada' }))
  await pause(1100)
  for (const name of await readdir(folder)) await rm(join(folder, name))
  for (const link of [gone, short]) {
    for (const { method, headers, ...rest } of await triesOf(etag)) {
      const visit = async (to: string) => {
        const { pathname: url, host } = new URL(to)
        return await outcomeOf(app, { method, url, headers: { host, ...headers }, ...rest }, [url])
      }
      t.equal(await visit(link), await visit(toUnknown(link)), `${method} ${JSON.stringify(headers)}`)
    }
  }
})

t.test('the upload of another caller is not taken up by its request state', async (t) => {
  const app = await build(t)
  const { page, requestState } = await makeLinks(app)
  const { pathname, host } = new URL(page)
  const { headers, payload } = await toForm('a.txt', 'of ada')
  await app.inject({ method: 'POST', url: pathname, headers: { ...headers, host }, payload })
  const resume = async (as: string, state: string) => {
    const { status, response } = await send(app, {
      method: 'tools/call',
      params: {
        name: 'take', arguments: {}, inputResponses: { upload: { action: 'accept' } }, requestState: state
      },
      meta: URL_MODE,
      headers: { authorization: `Bearer ${as}` }
    })
    // Each page has a link of its own, and each request state is sealed anew.
    return [status, JSON.stringify(response).replaceAll(/"(url|requestState|elicitationId)":"[^"]+"/g, '$1')]
  }
  const forged = `${requestState.slice(0, -20)}${'A'.repeat(20)}`
  t.strictSame(await resume('bob', requestState), await resume('bob', forged))
  t.notMatch(JSON.stringify(await resume('bob', requestState)), /of ada/)
  t.match(JSON.stringify(await resume('ada', requestState)), /of ada/)
})

t.test('a token that was taken back opens as little as one that never was', async (t) => {
  const valid = new Set(['ada', 'bob'])
  const authenticator: Authenticator = createBearerAuthenticator([{
    maxAgeMs: 0,
    async verify (token) {
      if (!valid.has(token)) throw new AuthenticationError('invalid_token', 'unknown')
      return { subject: token, clientId: 'test', scopes: new Set() }
    }
  }])
  const app = await build(t, { authenticator })
  const { file, page, etag } = await makeLinks(app)
  valid.delete('ada')
  for (const link of [file, page]) {
    const { pathname, host } = new URL(link)
    for (const { method, headers, ...rest } of await triesOf(etag)) {
      const visit = async (token: string, url: string) => await outcomeOf(app, {
        method, url, headers: { host, ...headers, authorization: `Bearer ${token}` }, ...rest
      }, [url])
      const answer = await visit('ada', pathname)
      t.match(answer, /^401\n/)
      t.equal(answer, await visit('eve', pathname), `${method} ${JSON.stringify(headers)}`)
      t.equal(answer, await visit('ada', toUnknown(pathname)), 'nor does it tell whether the link exists')
    }
  }
})
