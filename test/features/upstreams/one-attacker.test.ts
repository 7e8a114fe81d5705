// One caller whose calls fail, for a minute, beside an honest one: for each kind of failure of an upstream.
// The upstream is away twice. Everything is real: the built service, its callers, and the upstreams.

import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { hasOpenssl, makeCertificate } from '../../helpers/certificates.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { toPost, type Message } from '../../helpers/request.ts'
import { startService } from '../../helpers/service.ts'

const TEST_MS = 60_000
const HONEST_EVERY_MS = 250
const ATTACK_CALLS = 20
/** The pause of each of the attacker's calls before the next one. */
const ATTACK_PAUSE_MS = 500
/** When the upstream goes away, and comes back. */
const OUTAGES = [[6000, 10_000], [30_000, 34_000]] as const
/** The part of the honest calls that the attack must leave. On a quiet machine it leaves all. */
const LEAST_PART = 0.93

/** How the upstream is while it is away. */
type OutageKind = 'refused' | 'reset' | 'error' | 'hang' | 'certificate'

/** The path that the attacker calls. */
type AttackPath = 'hang' | 'reset' | 'error' | 'slow' | 'broken'

const KINDS: ReadonlyArray<readonly [AttackPath, OutageKind]> = [
  ['hang', 'refused'], ['reset', 'refused'], ['error', 'error'], ['slow', 'hang'], ['broken', 'reset'],
  ['hang', 'certificate']
]

const answerPath = (path: AttackPath | 'ok', response: ServerResponse): void => {
  switch (path) {
    case 'ok': {
      response.end('ok')
      return
    }
    case 'hang': return
    case 'reset': {
      response.destroy()
      return
    }
    case 'error': {
      response.writeHead(500).end()
      return
    }
    case 'slow': {
      const timer = setInterval(() => response.write('a'), 500)
      response.on('close', () => clearInterval(timer))
      return
    }
    case 'broken': {
      response.writeHead(200, { 'content-length': '10' }).write('a')
      setTimeout(() => response.destroy(), 10)
    }
  }
}

interface AwayUpstream {
  readonly url: string
  leave (): Promise<void>
  comeBack (): Promise<void>
}

interface TlsKeys { readonly key: Buffer, readonly cert: Buffer }

async function startAwayUpstream (
  t: Test, kind: OutageKind, keys: { readonly own: TlsKeys, readonly other: TlsKeys }
): Promise<AwayUpstream> {
  let isAway = false
  const listener: RequestListener = ({ url = '' }, response) => {
    const path = url.replace('/api/', '') as AttackPath | 'ok'
    answerPath(isAway && kind !== 'refused' && kind !== 'certificate' ? kind : path, response)
  }
  const server: Server = kind === 'certificate' ? createTlsServer(keys.own, listener) : createServer(listener)
  const open = async (port: number) => await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  await open(0)
  const { port } = server.address() as AddressInfo
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  async function toggle (): Promise<void> {
    isAway = !isAway
    if (server instanceof TlsServer) server.setSecureContext(isAway ? keys.other : keys.own)
    else if (kind === 'refused') isAway ? server.close() : await open(port)
    else return
    server.closeAllConnections()
  }
  const scheme = kind === 'certificate' ? 'https' : 'http'
  return { url: `${scheme}://localhost:${port}/api`, leave: toggle, comeBack: toggle }
}

const readKeys = async (folder: string, name: string): Promise<TlsKeys> => ({
  key: await readFile(join(folder, `${name}.key`)), cert: await readFile(join(folder, `${name}.crt`))
})

t.setTimeout(3 * TEST_MS)

t.test('an honest caller is served as without the attack', { timeout: 3 * TEST_MS }, async (t) => {
  if (!hasOpenssl(t)) return
  const folder = await makeFolder(t)
  for (const name of ['own', 'other']) await makeCertificate(folder, name, 'localhost', 'DNS:localhost')
  const keys = { own: await readKeys(folder, 'own'), other: await readKeys(folder, 'other') }
  const cases = await Promise.all(KINDS.flatMap(([path, kind]) => [true, false].map(async (isAttacked) => ({
    name: `${path}-${kind}${isAttacked ? '' : '-calm'}`,
    path,
    isAttacked,
    honest: tokenOf('ada'),
    attacker: tokenOf('eve'),
    upstream: await startAwayUpstream(t, kind, keys)
  }))))
  const names = cases.map(({ name, upstream }) => [name, upstream.url])
  const catalog = await writeCatalog(t, {
    'tokens.yaml': cases.flatMap(({ honest, attacker }) => [honest.entry, attacker.entry]).join('\n'),
    'lib/upstreams.ts': `import { defineUpstream } from 'trivet'
      const define = ([name, url]) => defineUpstream({ name, url, allowPrivate: true, auth: { type: 'none' } })
      export const upstreams = Object.fromEntries(${JSON.stringify(names)}.map((one) => [one[0], define(one)]))`,
    'tools/call.ts': `import { defineTool } from 'trivet'
      import { upstreams } from '../lib/upstreams.ts'
      export default defineTool({
        name: 'call',
        inputSchema: { type: 'object' },
        run: async ({ name, path }, ctx) => await (await ctx.fetch(upstreams[name], path)).text()
      })`
  })
  const { url } = await startService(t, {
    TRIVET_CATALOG: catalog,
    TRIVET_AUTH: 'tokens',
    TRIVET_AUTH_TOKENS: join(catalog, 'tokens.yaml'),
    TRIVET_LOG_LEVEL: 'error',
    NODE_EXTRA_CA_CERTS: join(folder, 'own.crt')
  })
  const call = async (token: string, name: string, path: string): Promise<boolean> => {
    const { headers, body } = toPost({
      method: 'tools/call',
      params: { name: 'call', arguments: { name, path } },
      headers: { authorization: `Bearer ${token}` }
    })
    try {
      const answer: Message = await (await fetch(url, { method: 'POST', headers, body })).json()
      return answer.result?.content[0].text === 'ok'
    } catch {
      // A busy machine: a connection was not there in ten seconds.
      return false
    }
  }
  const answered = new Map(await Promise.all(cases.map(async (one) => {
    const ends = await Promise.all([
      runHonest(async () => await call(one.honest.token, one.name, 'ok')),
      runOutages(one.upstream),
      ...one.isAttacked
        ? Array.from({ length: ATTACK_CALLS }, async () => {
          await runAttack(async () => { await call(one.attacker.token, one.name, one.path) })
        })
        : []
    ])
    return [one.name, ends[0]] as const
  })))
  for (const { name, isAttacked } of cases) {
    if (!isAttacked) continue
    const own = answered.get(name) ?? { calls: 0, backMs: [] }
    const calm = answered.get(`${name}-calm`) ?? { calls: 0, backMs: [] }
    const figures = `${own.calls} of ${TEST_MS / HONEST_EVERY_MS}, ${calm.calls} without the attack; ` +
      `back after ${own.backMs.join(' and ')} ms, ${calm.backMs.join(' and ')} without`
    t.comment(`${name}: ${figures}`)
    t.ok(own.calls >= calm.calls * LEAST_PART, `${name}: ${figures}`)
    t.ok(calm.calls > 50, `${name}: ${calm.calls} calls without an attack`)
  }
})

/** A new principal for each case: limits of calls are those of a caller. */
function tokenOf (subject: string) {
  subjects++
  const expiresAt = new Date(Date.now() + 3_600_000)
  return createStaticToken({ subject: `${subject}-${subjects}`, scopes: [], expiresAt })
}

let subjects = 0

interface HonestCalls {
  /** How many were answered. */
  readonly calls: number
  /** How long after the end of each outage the first one was. */
  readonly backMs: readonly number[]
}

/** Calls at fixed times, whether the calls before have ended or not. */
async function runHonest (call: () => Promise<boolean>): Promise<HonestCalls> {
  const startedAt = performance.now()
  const times: number[] = []
  const running: Array<Promise<void>> = []
  for (let at = 0; at < TEST_MS; at += HONEST_EVERY_MS) {
    await pause(Math.max(0, startedAt + at - performance.now()))
    const begin = performance.now() - startedAt
    running.push(call().then((isAnswered) => { if (isAnswered) times.push(begin) }))
  }
  await Promise.all(running)
  times.sort((one, other) => one - other)
  const backMs = OUTAGES.map(([, end]) => Math.round((times.find((time) => time >= end) ?? Infinity) - end))
  return { calls: times.length, backMs }
}

async function runOutages ({ leave, comeBack }: AwayUpstream): Promise<void> {
  const startedAt = performance.now()
  for (const [from, to] of OUTAGES) {
    await pause(startedAt + from - performance.now())
    await leave()
    await pause(startedAt + to - performance.now())
    await comeBack()
  }
}

async function runAttack (call: () => Promise<void>): Promise<void> {
  const endsAt = performance.now() + TEST_MS
  while (performance.now() < endsAt) {
    await call()
    await pause(ATTACK_PAUSE_MS)
  }
}
