// The service that is fuzzed: the real one, in this process, on loopback addresses, with LMDB, files, static
// tokens, JWTs of a small issuer, an admin address, and a log whose lines are checked as they come.

import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { pino } from 'pino'
import { createService } from '../../src/app/app.ts'
import { createStaticToken } from '../../src/platform/access/static-token-file.ts'
import { replaceTime, type Timer } from '../../src/base/time.ts'
import { createLoadGuard } from '../../src/catalog/compiled/load-guard.ts'
import { openLmdbFolder } from '../../src/platform/store/backends/lmdb/folder.ts'
import type { Files } from '../helpers/catalog-folder.ts'
import { writeInPlace } from '../helpers/catalog-folder.ts'
import { SECRET_CANARY } from './canaries.ts'
import { CATALOG } from './catalog.ts'

const PUBLIC_URL = 'https://fuzzed.example/mcp'
const DAYS_MS = 86_400_000

export interface FuzzTarget {
  readonly ports: { readonly main: number, readonly admin: number }
  /** Authorization headers of callers that the service knows. */
  readonly callers: readonly string[]
  /** Authorization headers of all kinds. */
  readonly authorizations: readonly string[]
  /** Good tokens of callers. No answer and no line of the log has one. */
  readonly secrets: readonly string[]
  /** The last request of each open connection of the main address. */
  openConnections (): string[]
  /** Lets everything expire, closes the service, and resolves to what is left of it. */
  expireAndClose (): Promise<Leftovers>
  /** Removes its folders. */
  remove (): Promise<void>
}

/** The entries of each database, and the files, after everything has expired. */
export interface Leftovers { readonly [kind: string]: number }

interface TargetOptions {
  readonly onLine: (line: string) => void
  /** Replaces files of the catalog. */
  readonly files?: Files
  /** Changes the app before it listens. Tests put faults into it. */
  readonly prepare?: (app: FastifyInstance) => void
}

export async function startTarget ({ onLine, files = {}, prepare }: TargetOptions): Promise<FuzzTarget> {
  const root = await mkdtemp(join(tmpdir(), 'trivet-fuzz-'))
  for (const [path, contents] of Object.entries({ ...CATALOG, ...files })) {
    await writeInPlace(join(root, 'catalog'), path, contents)
  }
  const time = takeTime()
  const issuer = await startIssuer()
  const tokens = await writeTokens(join(root, 'tokens.yaml'))
  const logger = pino({ level: 'trace' }, { write: onLine })
  const service = await createService({
    catalog: join(root, 'catalog'),
    watch: 'off',
    overload: 'off',
    stateUrl: `file:${join(root, 'state')}`,
    filesUrl: `file:${join(root, 'files')}`,
    auditFile: join(root, 'audit.jsonl'),
    secrets: [`${SECRET_CANARY}-of-32-characters-or-more`],
    auth: ['none', 'tokens', 'jwt'],
    authTokens: join(root, 'tokens.yaml'),
    authIssuers: [issuer.url],
    publicUrl: PUBLIC_URL,
    maxCallsPerCaller: 'off',
    maxBodyBytes: 65_536,
    requestTimeoutMs: 10_000,
    requestStateTtlMs: 1000
  }, {
    guard: createLoadGuard(),
    build: { version: '1.0.0', node: process.versions.node },
    log: {
      logger,
      writeInfo: (fields, message) => onLine(`{"level":30,${fields},"msg":"${message}"}\n`),
      announce: () => {}
    }
  })
  const { app, admin, tasks } = service
  const jwts = await issuer.makeTokens()
  prepare?.(app)
  const good = [...tokens, ...jwts.good]
  await app.listen({ host: '127.0.0.1', port: 0 })
  await admin?.listen({ host: '127.0.0.1', port: 0 })
  const openConnections = trackConnections(app.server)
  const portOf = (address: AddressInfo | string | null | undefined) => (address as AddressInfo).port

  return {
    ports: { main: portOf(app.server.address()), admin: portOf(admin?.server.address()) },
    callers: good.map((token) => `Bearer ${token}`),
    authorizations: [
      ...[...good, ...jwts.bad, 'trv_nobody', 'x', ''].map((token) => `Bearer ${token}`), 'Basic YTpi'
    ],
    secrets: good,
    openConnections,
    async expireAndClose () {
      // Each sweep removes some. A removal may be what lets the next sweep remove more.
      for (let round = 0; round < 6; round++) {
        time.advance(40 * DAYS_MS)
        tasks?.look()
        await pause(150)
      }
      await service.close()
      await issuer.close()
      time.giveBack()
      return { ...countEntries(join(root, 'state')), files: await countFiles(join(root, 'files')) }
    },
    remove: async () => await rm(root, { recursive: true, force: true })
  }
}

function trackConnections (server: Server): () => string[] {
  const requests = new Map<Socket, string>()
  server.on('connection', (socket: Socket) => {
    requests.set(socket, 'no request')
    socket.on('close', () => requests.delete(socket))
  })
  server.prependListener('request', ({ socket, method, url, headers }: IncomingMessage) => {
    requests.set(socket, `${method} ${url} ${JSON.stringify(headers)}`)
  })
  return () => [...requests].map(([{ bytesRead, bytesWritten, readableFlowing }, request]) => {
    return `${request.slice(0, 1500)}, ${JSON.stringify({ bytesRead, bytesWritten, readableFlowing })}`
  })
}

/** A clock that can be put forward, and intervals that can be called. */
function takeTime () {
  let offset = 0
  const intervals = new Map<Timer, () => void>()
  const giveBack = replaceTime({
    now: () => Date.now() + offset,
    setInterval (callback, ms) {
      const timer = setInterval(callback, ms)
      intervals.set(timer, callback)
      return timer
    },
    clear (timer) {
      if (timer !== undefined) intervals.delete(timer)
      clearTimeout(timer as NodeJS.Timeout | undefined)
    }
  })
  return {
    giveBack,
    advance (ms: number) {
      offset += ms
      for (const callback of intervals.values()) callback()
    }
  }
}

async function writeTokens (file: string): Promise<string[]> {
  const expiresAt = new Date(Date.now() + DAYS_MS)
  const made = [
    createStaticToken({ subject: 'ada', scopes: ['notes:read'], expiresAt }),
    createStaticToken({ subject: 'grace', scopes: [], expiresAt })
  ]
  await writeFile(file, made.map(({ entry }) => `${entry}\n`).join(''))
  return made.map(({ token }) => token)
}

/** An authorization server that only publishes its metadata and its key. */
async function startIssuer () {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const key = { ...await exportJWK(publicKey), kid: 'k', alg: 'ES256', use: 'sig' }
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/jwks') response.end(JSON.stringify({ keys: [key] }))
    else if (request.url?.startsWith('/.well-known/') === true) {
      response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks` }))
    } else response.writeHead(404).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sign = async (claims: object, typ = 'at+jwt') => (
    await new SignJWT({ scope: 'notes:list', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'k', typ }).setIssuedAt().setJti('1').sign(privateKey)
  )
  const usual = {
    iss: url, aud: PUBLIC_URL, sub: 'barbara', client_id: 'c', exp: Math.floor(Date.now() / 1000) + 3600
  }
  return {
    url,
    async makeTokens () {
      const good = await sign(usual)
      return {
        good: [good],
        bad: [
          await sign({ ...usual, aud: 'https://other.example' }), await sign({ ...usual, exp: 1 }),
          await sign({ ...usual, iss: 'https://other.example' }), await sign({ ...usual, scope: 5 }),
          await sign(usual, 'jwt'), `${good}x`, good.slice(0, -9), `${good.split('.')[0]}..`
        ]
      }
    },
    async close () {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

function countEntries (folder: string): { [database: string]: number } {
  const { root, created, ...databases } = openLmdbFolder(folder, 'trivet')
  const counts = Object.fromEntries(
    Object.entries(databases).map(([name, database]) => [name, database.getKeysCount()])
  )
  root.close().catch(() => {})
  return counts
}

async function countFiles (folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).length
}
