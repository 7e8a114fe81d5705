// Tasks that call an upstream as their user after their request has ended.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { CLIENT } from './tokens/exchange-setup.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { post } from '../../helpers/stream.ts'
import { TaskClient } from '../tasks/task-client.ts'
import { keeping, later, textOf } from './later-calls.ts'
import { openSignedIn } from './signed-in.ts'

/** The bytes of the files that the store has now. */
async function readStore (folder: string): Promise<Buffer[]> {
  const files = (await readdir(folder, { withFileTypes: true })).filter((file) => file.isFile())
  return await Promise.all(files.map(async ({ name }) => await readFile(join(folder, name))))
}

t.test('a task calls as its user, with a token that it keeps sealed', async (t) => {
  const state = await makeFolder(t)
  const issued: string[] = []
  const { url, sign, issuer, crm } = await openSignedIn(t, {
    definition: keeping(true),
    files: { 'tools/later.ts': later([1200]) },
    exchange: { hasRefreshTokens: true, onToken: (token) => issued.push(token) },
    options: { stateUrl: `file:${state}` }
  })
  const users = await Promise.all(['alice', 'bob'].map(async (user) => {
    const token = await sign(user)
    const client = new TaskClient(async (parts) => await post(t, url, parts), { user: `Bearer ${token}` })
    return { user, token, client, taskId: (await client.call('later')).taskId }
  }))
  const stored: Buffer[] = []
  for (const { user, client, taskId } of users) {
    stored.push(...await readStore(state))
    t.equal(textOf(await client.until(taskId, 'completed', 20_000)), `${user} ${user}`)
  }
  stored.push(...await readStore(state))
  t.equal(issuer.requestsOf('/token'), 4, 'for each user one for the request, and one to keep')
  t.equal(new Set(crm.taken).size, 4)
  t.ok(issued.length >= 8, 'with refresh tokens')
  for (const token of [...issued, ...users.map((one) => one.token), CLIENT.secret]) {
    for (const part of [token, token.split('.').at(-1) ?? '']) {
      t.notOk(stored.some((bytes) => bytes.includes(part)), 'not in the bytes of the store')
    }
  }
  t.ok(stored.some((bytes) => bytes.length > 0))
})

t.test('a refresh token that counts once is kept before the next use', async (t) => {
  const { url, sign, crm, log } = await openSignedIn(t, {
    definition: keeping(true),
    files: { 'tools/later.ts': later([1300, 1300, 1300]) },
    exchange: { hasRefreshTokens: true, rotates: true, ttlSeconds: 1 },
    settings: { tokenTtlSeconds: 1 },
    options: { secrets: ['the secret that seals the tasks of this test'] }
  })
  const user = `Bearer ${await sign('alice')}`
  const client = new TaskClient(async (parts) => await post(t, url, parts), { user })
  const { taskId } = await client.call('later')
  t.equal(textOf(await client.until(taskId, 'completed', 30_000)), 'alice alice alice alice')
  t.equal(new Set(crm.taken).size, 4)
  t.strictSame(log.lines.filter(({ level }) => level >= 40), [])
})

t.test('without keep, and after the end of what is kept, the user must call again', async (t) => {
  const message = 'The service crm must know which user calls. The user must sign in, and call again.'
  for (const [keep, exchange, exchanges] of [
    [false, {}, 1],
    [true, { ttlSeconds: 1 }, 2],
    // The issuer takes the refresh token back.
    [true, { ttlSeconds: 1, hasRefreshTokens: true }, 2]
  ] as const) {
    const { url, sign, crm, issuer } = await openSignedIn(t, {
      definition: keeping(keep), files: { 'tools/later.ts': later([1300]) }, exchange
    })
    const user = `Bearer ${await sign('alice')}`
    const client = new TaskClient(async (parts) => await post(t, url, parts), { user })
    const { taskId } = await client.call('later')
    await pause(300)
    t.equal(issuer.requestsOf('/token'), exchanges)
    issuer.replaceAnswer('/token', (response) => {
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
    })
    const { result } = await client.until(taskId, 'completed', 20_000)
    t.match(result, { isError: true, content: [{ text: message }] })
    t.equal(crm.taken.length, 1)
  }
})

t.test('a client without tasks gets what a later run says', async (t) => {
  const { url, sign, crm, log } = await openSignedIn(t, {
    definition: keeping(true),
    files: { 'tools/later.ts': later([1200]).replace('required', 'allowed') },
    options: { secrets: ['the secret that seals the tasks of this test'] }
  })
  const user = `Bearer ${await sign('alice')}`
  const client = new TaskClient(async (parts) => await post(t, url, parts), { user, capabilities: {} })
  t.equal(textOf({ result: await client.call('later') }), 'alice alice')
  t.equal(new Set(crm.taken).size, 2)
  t.strictSame(log.lines.filter(({ level }) => level >= 40), [])
})

t.test('undo calls as the user too', async (t) => {
  const run = later([1200]).replace("return seen.join(' ')", "throw new Error('no more')")
  const undo = `async undo (_, ctx) { await ctx.fetch(crm, 'undo', { method: 'POST' }) },
    async run`
  const { url, sign, crm, log } = await openSignedIn(t, {
    definition: keeping(true), files: { 'tools/later.ts': run.replace('async run', undo) }
  })
  const user = `Bearer ${await sign('alice')}`
  const client = new TaskClient(async (parts) => await post(t, url, parts), { user })
  const { taskId } = await client.call('later')
  await client.until(taskId, 'failed', 20_000)
  const calls = () => log.lines.filter(({ path }) => path === '/api/undo')
  await until(() => calls().length > 0, 'the undo', 20_000)
  t.match(calls(), [{ status: 200, outcome: 'ok' }])
  t.equal(crm.taken.length, 3)
  t.equal(crm.taken[1], crm.taken[2], 'with the token that the task keeps')
})
