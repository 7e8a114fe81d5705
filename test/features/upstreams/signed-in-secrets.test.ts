// No token, secret, claim or query of a call is told: not in the log, the audit log, metrics, spans, or to
// the client.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { CLIENT } from './tokens/exchange-setup.ts'
import { until } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { recordSpans } from '../../helpers/recorded-spans.ts'
import { post } from '../../helpers/stream.ts'
import { TaskClient } from '../tasks/task-client.ts'
import { serveSignedIn, signFor, startCrm, startIssuer } from './signed-in.ts'
import { startUpstream } from './upstream-server.ts'

const spans = recordSpans()

const toFiles = (other: string) => ({
  'lib/others.ts': `import { defineUpstream } from 'trivet'
    export const claims = defineUpstream({
      name: 'claims', url: '${other}', allowPrivate: true, auth: {
        type: 'claims',
        headers: ({ email }) => {
          if (email === 'CANARY-broken') throw new Error(email)
          return { 'x-user': email }
        },
        jwt: { audience: 'claims', claims: ({ email }) => ({ email }) }
      }
    })
    export const own = defineUpstream({
      name: 'own', url: '${other}', allowPrivate: true,
      auth: { type: 'service', resource: 'https://crm.example' }
    })
    export const wrong = defineUpstream({
      name: 'wrong', url: '${other}', allowPrivate: true,
      auth: { type: 'exchange', audience: 'https://CANARY-free.example' }
    })`,
  'tools/calls.ts': `import { defineTool } from 'trivet'
    import { crm } from '../lib/crm.ts'
    import { claims, own, wrong } from '../lib/others.ts'
    export default defineTool({
      name: 'calls', upstreams: [crm, claims, own, wrong],
      async run (_, ctx) {
        const errors = []
        for (const one of [crm, claims, own, wrong]) {
          const call = ctx.fetch(one, 'a/b', { query: { q: 'CANARY-query' }, json: { a: 'CANARY-body' }, method: 'POST' })
          await call.catch((error) => errors.push([error.message, String(error.cause), JSON.stringify(error)]))
        }
        return JSON.stringify(errors)
      }
    })
    export const later = defineTool({
      name: 'later', task: 'required', upstreams: [crm],
      async run (_, ctx) {
        await ctx.sleep(1100)
        await ctx.fetch(crm, 'who', { query: { q: 'CANARY-query' } })
        await ctx.fetch(crm, 'who', { method: 'POST', body: 'CANARY-body' })
        throw new Error('the end')
      }
    })`
})

t.test('nothing tells of a token, a secret, a claim or a query', async (t) => {
  const secrets: string[] = ['CANARY', CLIENT.secret]
  const issuer = await startIssuer(t, {
    hasRefreshTokens: true,
    ttlSeconds: 1,
    // The server of the test quotes the token in the description of its refusal.
    refuse: (subject) => subject === 'bob' ? 'interaction_required' : undefined,
    onToken: (token) => secrets.push(token)
  })
  const crm = await startCrm(t, issuer)
  const seen: string[] = []
  const other = await startUpstream(t, ({ headers: { authorization = '' } }, response) => {
    seen.push(authorization)
    // An upstream that answers with what it got.
    response.writeHead(seen.length % 2 === 0 ? 401 : 500, { 'x-echo': authorization }).end(authorization)
  })
  const auditFile = join(await makeFolder(t), 'audit.jsonl')
  const { url, log, readMetrics } = await serveSignedIn(t, issuer, crm, {
    definition: "auth: { type: 'exchange', audience: 'https://crm.example', keep: true }",
    files: toFiles(other.url),
    options: { auditFile, auth: ['jwt', 'none'], authScopes: [] }
  })
  const told: string[] = []
  const clientOf = (token: string | undefined) => new TaskClient(async (parts) => {
    const answer = await post(t, url, parts)
    told.push(JSON.stringify([answer.headers, answer.messages]))
    return answer
  }, token === undefined ? {} : { user: `Bearer ${token}` })

  for (const [subject, email] of [
    ['alice', 'CANARY-claim'], ['bob', 'CANARY-broken'], ['carol', 'CANARY\u0100'], [undefined, '']
  ] as const) {
    const token = subject && await signFor(issuer, subject, { email })
    if (token !== undefined) secrets.push(token)
    await clientOf(token).call('calls')
  }
  const dave = await signFor(issuer, 'dave', { email: 'CANARY-claim' })
  secrets.push(dave)
  const { taskId } = await clientOf(dave).call('later')
  await clientOf(dave).until(taskId, 'failed', 20_000)
  // What the issuer has become is no HTTP, and then it is away.
  issuer.replaceAnswer('/token', (response) => response.writeHead(200).end(dave))
  await clientOf(await signFor(issuer, 'erin', { email: 'CANARY-claim' })).call('calls')
  await issuer.stop()
  await clientOf(dave).call('calls')

  t.ok(crm.taken.length >= 3)
  t.ok(seen.length >= 6)
  let audit = ''
  await until(async () => {
    audit = await readFile(auditFile, 'utf8').catch(() => '')
    return audit.trim().split('\n').length >= 7
  }, 'the audit log')
  told.push(audit, log.text(), await readMetrics(), JSON.stringify(
    spans.all().map(({ name, attributes, events, status }) => [name, attributes, events, status])
  ))
  t.match(audit, '"upstreams":[{"name":"crm","as":"caller","calls":')
  t.match(told.at(-1), '"POST crm"')
  t.match(log.text(), 'interaction_required')
  secrets.push(...crm.taken, ...seen.map((authorization) => authorization.replace('Bearer ', '')))
  for (const secret of new Set(secrets.filter((one) => one !== ''))) {
    // The parts of a JWT: its claims and its signature.
    const [, ...parts] = secret.split('.')
    for (const part of parts.length === 2 ? parts : [secret]) {
      t.notOk(told.some((text) => text.includes(part)), part.startsWith('CANARY') ? part : 'no token')
    }
  }
})
