// Resumed streams of calls end when the token that resumed them no longer counts. The call itself goes on.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Authenticator } from '../../../../src/platform/access/authentication.ts'
import { createStaticToken } from '../../../../src/platform/access/static-token-file.ts'
import type { AppOptions } from '../../../../src/app/app.ts'
import { replaceTime } from '../../../../src/base/time.ts'
import { buildApp, listen } from '../../../helpers/app.ts'
import { writeByRename } from '../../../helpers/catalog-folder.ts'
import { until } from '../../../helpers/deadline.ts'
import { makeFolder } from '../../../helpers/folder.ts'
import { GATES } from '../../../helpers/gates.ts'
import {
  LEGACY_REVISIONS, openSession, type SessionClient, type SessionReply
} from '../../../helpers/session.ts'
import { startAuthorizationServer } from '../../../servers/authorization-server.ts'

const FILES = {
  'lib/gates.ts': GATES,
  'tools/all.ts': `
    import { defineTool } from 'trivet'
    import { gate } from '../lib/gates.ts'
    const inputSchema = { type: 'object', properties: { gate: { type: 'string' } } }
    const define = (name, run) => defineTool({ name, description: 'A tool.', inputSchema, run })
    export default [
      define('speaks', async ({ gate: name }, ctx) => {
        ctx.progress(1)
        await gate(name).promise
        return 'done'
      }),
      define('open', ({ gate: name }) => { gate(name).open(); return 'ok' })
    ]`
}
/** Tokens are asked about every two seconds, and a file is read within as many. The machine may be busy. */
const END_WITHIN_MS = 10_000
/** Calls that wait at a gate do not hold the shutdown. */
const SETTINGS = { keepAliveMs: 60_000, shutdownTimeoutMs: 100 }

let gates = 0

async function resumeCall (
  session: SessionClient
): Promise<{ gate: string, resumed: SessionReply, id: string }> {
  const gate = `gate ${++gates}`
  const call = await session.startCall('speaks', { gate }, { meta: { progressToken: 'p' } })
  await call.next()
  call.close()
  const id = call.lastEventId
  const resumed = await session.get({ 'last-event-id': id })
  if (resumed.status !== 200) throw new Error(`not resumed: ${resumed.status} ${resumed.text}`)
  return { gate, resumed, id }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function open (t: Test, options: AppOptions): Promise<string> {
  return await listen(await buildApp(t, FILES, { ...SETTINGS, ...options }))
}

const OLD = { subject: 'ada', scopes: new Set<string>() }
const NEW = { subject: 'ada', scopes: new Set<string>() }

t.test('the stream of a token that was taken back ends, and its call goes on', async (t) => {
  let isValid = true
  const authenticator: Authenticator = {
    authenticate: (header) => header === undefined ? OLD : NEW,
    isStillValid: (principal) => isValid || principal === NEW
  }
  const url = await open(t, { authenticator })
  const sessions = await Promise.all(
    LEGACY_REVISIONS.map(async (revision) => await openSession(t, url, { revision }))
  )
  const calls = await Promise.all(sessions.map(async (session) => await resumeCall(session)))
  isValid = false
  for (const [index, { gate, resumed, id }] of calls.entries()) {
    await resumed.ended(END_WITHIN_MS)
    t.strictSame([resumed.isComplete, resumed.messages], [true, []])
    const renewed = sessions[index]?.with({ headers: bearer('new') })
    const again = await renewed?.get({ 'last-event-id': id })
    await renewed?.call('open', { gate })
    t.equal((await again?.ended())?.response.result.content[0].text, 'done', 'a new token reads the rest')
  }
})

t.test('a token that lacks a scope of the call resumes it as little as an unknown stream', async (t) => {
  const authenticator: Authenticator = {
    authenticate: (scopes = '') => ({ subject: 'ada', scopes: new Set(scopes.split(' ')) })
  }
  const as = (authorization: string) => ({ authorization })
  const session = await openSession(t, await open(t, { authenticator }), { headers: as('books more') })
  const gate = `gate ${++gates}`
  const call = await session.startCall('speaks', { gate }, { meta: { progressToken: 'p' } })
  await call.next()
  call.close()
  const resume = async (scopes: string, id: string) => {
    return await session.with({ headers: as(scopes) }).get({ 'last-event-id': id })
  }
  const outcomeOf = async (scopes: string, id: string) => {
    const { status, headers, text } = await (await resume(scopes, id)).ended()
    return { status, text, type: headers['content-type'], length: headers['content-length'] }
  }
  const unknown = call.lastEventId.replace(/^c\.[^.]+/, `c.${'A'.repeat(16)}`)
  const compare = async (what: string) => {
    for (const scopes of ['books', 'more', '']) {
      const expected = await outcomeOf(scopes, unknown)
      t.equal(expected.status, 400)
      t.strictSame(await outcomeOf(scopes, call.lastEventId), expected, `${what}: ${scopes}`)
    }
  }
  await compare('while it runs')
  await session.call('open', { gate })
  await compare('after its end')
  const more = await resume('books more and others', call.lastEventId)
  t.equal((await more.ended()).response.result.content[0].text, 'done')
})

t.test('a stream ends when the token that resumed it expires', async (t) => {
  const expiresAt = Date.now() + 1500
  const authenticator: Authenticator = { authenticate: () => ({ ...OLD, expiresAt }) }
  const session = await openSession(t, await open(t, { authenticator }))
  const { resumed } = await resumeCall(session)
  await resumed.ended(END_WITHIN_MS)
  t.ok(Date.now() >= expiresAt - 1, 'not before')
  t.ok(resumed.isComplete)
})

t.test('a stream ends after the line of its static token is deleted, or loses a scope', async (t) => {
  const folder = await makeFolder(t)
  const authTokens = join(folder, 'tokens.yaml')
  const [ada, bob, carol] = ['ada', 'bob', 'carol'].map((subject) => {
    const expiresAt = new Date('2100-01-01')
    return createStaticToken({ subject, scopes: ['books:read', 'books:write'], expiresAt })
  })
  if (ada === undefined || bob === undefined || carol === undefined) throw new TypeError('unreachable')
  await writeFile(authTokens, [ada, bob, carol].map(({ entry }) => entry).join('\n'))
  const url = await open(t, { auth: ['tokens'], authTokens })
  const [one, two, three] = await Promise.all([ada, bob, carol].map(
    async ({ token }) => await resumeCall(await openSession(t, url, { headers: bearer(token) }))
  ))
  await writeByRename(folder, 'tokens.yaml', `${bob.entry.replace('"books:write"', '"other"')}\n${carol.entry}`)
  await Promise.all([one, two].map(async (call) => await call?.resumed.ended(END_WITHIN_MS)))
  t.notOk(three?.resumed.hasEnded, 'the stream of the other token stays')
})

t.test('a stream ends after the server that is asked calls its token inactive', async (t) => {
  const server = await startAuthorizationServer(t, { format: 'opaque' })
  const publicUrl = 'https://books.example/mcp'
  const url = await open(t, {
    auth: ['introspection'],
    publicUrl,
    authIssuers: [server.issuer],
    authClientId: 'books',
    authClientSecret: 'books-secret'
  })
  const authorize = async () => (await server.clientCredentials({ scope: 'books:read' })).access_token
  const token = await authorize()
  const session = await openSession(t, url, { headers: bearer(token) })
  const { resumed } = await resumeCall(session)
  await server.revoke(token)
  // The answer of the server counts for a minute.
  t.teardown(replaceTime({ now: () => Date.now() + 61_000 }))
  await resumed.ended(END_WITHIN_MS)
  t.strictSame(resumed.messages, [])
  await until(async () => (await session.get()).status === 401, 'the refusal')
})
