// Runs a plan against replicas that are processes, over a server or a folder. Their handlers write what they
// do to a file, and the models read it before each answer.

import { appendFile, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import type { Principal } from '../../../src/platform/access/principal.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { startPostgresServer } from '../../servers/postgres-server.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { startRedisServer } from '../../servers/redis-server.ts'
import { Ledgers, Orders } from '../models/calls.ts'
import { Commands } from '../commands.ts'
import { Jobs } from '../models/jobs.ts'
import type { Command, Plan } from '../plan.ts'
import { createProbe } from '../run-plan.ts'
import { LEASE_MS, MAX_HANDLES, MAX_TASKS } from '../replica.ts'
import { SECRETS, senderOf, withRight } from '../senders.ts'
import { Streams } from '../models/streams.ts'
import { RealCluster } from './cluster.ts'
import { RealWorld, SPEED } from './world.ts'

export type Medium = keyof typeof MEDIA

export const isMedium = (text: string): text is Medium => text in MEDIA

/** Each opens a store and resolves to its URL. One process at a time serves a folder. */
const MEDIA = {
  redis: async (t: Test, _folder: string) => (await startRedisServer(t)).url,
  lmdb: async (_t: Test, folder: string) => `file:${join(folder, 'state')}`,
  postgres: async (t: Test, _folder: string) => (await startPostgresServer(t)).url
}

/** What a real store and a real clock lack, and what only operators do. */
const PASSED_OVER = new Set(['cut', 'away', 'split', 'clock', 'retry'])
/** The commands of one run: more would take long. */
const MAX_COMMANDS = 25
/** All work must end within this time after the last command, in milliseconds of the machine. */
const MAX_CALM_MS = 240_000
const PROBE = new URL('file-probe.mjs', import.meta.url).href

export interface RealOutcome {
  readonly problem: string | undefined
  readonly trace: readonly string[]
  /** How many commands were carried out, by their kind, and how many passed over. */
  readonly done: ReadonlyMap<string, number>
  readonly passedOver: number
}

/** @param t what closes the parts at the end. */
export async function runReal (t: Test, plan: Plan, medium: Medium): Promise<RealOutcome> {
  const folder = await makeFolder(t)
  const notes = join(folder, 'notes')
  await writeFile(notes, '')
  const tokens = await writeTokens(join(folder, 'tokens.yaml'))
  const stateUrl = await MEDIA[medium](t, folder)
  const environment = {
    NODE_OPTIONS: `--import=${PROBE}`,
    SIMULATION_NOTES: notes,
    SIMULATION_SPEED: String(SPEED),
    TRIVET_AUTH: 'tokens',
    TRIVET_AUTH_TOKENS: join(folder, 'tokens.yaml'),
    TRIVET_WATCH: 'off',
    TRIVET_STATE_URL: stateUrl,
    TRIVET_TASK_LEASE_MS: String(LEASE_MS / SPEED),
    TRIVET_MAX_TASKS_PER_CALLER: String(MAX_TASKS),
    TRIVET_MAX_HANDLES_PER_CALLER: String(MAX_HANDLES),
    TRIVET_MAX_CALLS_PER_CALLER: 'off',
    TRIVET_DRAIN_MS: '0',
    TRIVET_SHUTDOWN_TIMEOUT_MS: '1000'
  }
  const world = new RealWorld()
  const replicas = medium === 'lmdb' ? 1 : plan.replicas
  const places = await Promise.all(Array.from({ length: replicas }, async (_, index) => ({
    environment: { ...environment, PORT: String(await findFreePort()) },
    folder: join(folder, `catalog-${index}`),
    options: { secrets: SECRETS.both, release: index % 2 === 0 ? 0 : 1 } as const
  })))
  const cluster = new RealCluster(world, places, (principal) => tokens.get(nameOf(principal)) ?? '')
  t.teardown(async () => await cluster.close())
  await cluster.open()
  return await carryOut(plan, { world, cluster, notes })
}

async function carryOut (
  plan: Plan, { world, cluster, notes }: { world: RealWorld, cluster: RealCluster, notes: string }
): Promise<RealOutcome> {
  const jobs = new Jobs(world, UNSEEN, cluster, SECRETS.both)
  const ledgers = new Ledgers(world)
  const orders = new Orders(world, cluster)
  const streams = new Streams(world, jobs)
  const probe = createProbe(world, { cluster: { killCurrent () {} }, jobs, ledgers, orders })
  let read = 0
  cluster.onAnswer = () => {
    const text = readFileSync(notes, 'utf8')
    const lines = text.slice(read).split('\n').slice(0, -1)
    read += lines.reduce((sum, line) => sum + line.length + 1, 0)
    for (const line of lines) {
      const { pid, at, what, args } = JSON.parse(line)
      world.eventAt = at
      world.current = cluster.processOf(pid)
      // A replica that is dead by now did this before.
      const wasDead = world.current.isDead
      world.current.isDead = false
      const method: (...args: unknown[]) => unknown = Reflect.get(probe, what)
      if (what === 'crash') jobs.runs.crash(args[0], args[1])
      else method(...args)
      world.current.isDead = wasDead
    }
    world.current = cluster.client
    world.eventAt = undefined
  }
  const parts = { world, network: NO_NETWORK, jobs, ledgers, orders, streams }
  const commands = new Commands({ ...parts, cluster: Object.assign(cluster, NO_FAULTS) }, plan.commands)
  const done = new Map<string, number>()
  const few = plan.commands.slice(0, MAX_COMMANDS)
  for (const command of few) {
    await world.pause(cluster.client, command.after)
    if (PASSED_OVER.has(command.do)) continue
    done.set(command.do, (done.get(command.do) ?? 0) + 1)
    commands.begin(toReal(command))
    if (world.violation !== undefined) break
  }
  await cluster.calm(SECRETS.both)
  const limit = new AbortController()
  const isDone = await Promise.race([
    commands.finish().then(() => true),
    new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), MAX_CALM_MS)
      limit.signal.addEventListener('abort', () => clearTimeout(timer))
      const watch = setInterval(() => { if (world.violation !== undefined) resolve(true) }, 100)
      limit.signal.addEventListener('abort', () => clearInterval(watch))
    })
  ])
  limit.abort()
  if (!isDone) world.fail(`not all tasks have ended ${MAX_CALM_MS} ms after the last command`)
  const count = [...done.values()].reduce((sum, one) => sum + one, 0)
  return { problem: world.violation?.message, trace: world.trace, done, passedOver: few.length - count }
}

/** Anonymous senders have no token: others send in their place. */
function toReal (command: Command): Command {
  return 'who' in command ? { ...command, who: command.who % 2 } : command
}

/** The models see no record of a real store: they go by what clients are told. */
const UNSEEN = {
  records: { get: () => undefined, getDurable: () => undefined, entries: () => [] },
  dueTimes: { get: () => undefined, getDurable: () => undefined }
}
/** Their commands are passed over. */
const NO_FAULTS = { cut () {}, setClock () {}, retry () {} }
const NO_NETWORK = { awayAt: 0, awayUntil: 0, splitAt: 0, state: { split () {}, heal () {}, failOver () {} } }

async function writeTokens (file: string): Promise<ReadonlyMap<string, string>> {
  const tokens = new Map<string, string>()
  for (const who of [0, 1]) {
    for (const right of ['full', 'less', 'none', 'stranger'] as const) {
      const { principal, principal: { subject = '', scopes } } = withRight(senderOf(who), right)
      if (tokens.has(nameOf(principal))) continue
      const expiresAt = '2100-01-01'
      const { token, entry } = createStaticToken({ subject, scopes: [...scopes], expiresAt } as never)
      tokens.set(nameOf(principal), token)
      await appendFile(file, `${entry}\n`)
    }
  }
  return tokens
}

function nameOf ({ subject = '', scopes }: Principal): string { return `${subject} ${[...scopes].join(' ')}` }
