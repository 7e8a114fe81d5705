// Three places of replicas behind nginx, whose processes are killed, paused and replaced by those of another
// release, and whose connections to their store are cut, delayed and lose replies, while clients begin tasks
// that work, ask and sleep, send files, update handles, and repeat calls under one key. What was acknowledged
// is there, once. A token without the scope of the tasks sees none of them. CHAOS_SECONDS is the duration of
// the storm; `npm run chaos` prints the figures of a long one.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createStaticToken } from '../../src/platform/access/static-token-file.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import { toReplicaEnvironment } from '../helpers/replicas.ts'
import { openFaultyConnection } from '../servers/faulty-connection.ts'
import { startNginx } from '../servers/nginx.ts'
import { openPlaces } from './places.ts'
import { EntryLedger, KeyLedger } from './storm-calls.ts'
import { SCOPE, toReleases } from './storm-catalog.ts'
import { StormClient } from './storm-client.ts'
import { wreak } from './storm-faults.ts'
import { findUnexplained } from './storm-losses.ts'
import { TaskLedger, toValues } from './storm-tasks.ts'
import { UploadLedger } from './storm-uploads.ts'
import { WeakClient } from './storm-weak-client.ts'

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 10)
const LEASE_MS = 2000
/** How many of each kind. */
const CLIENTS = { tasks: 4, uploads: 2, entries: 4, keys: 4 }
/** After the storm, whatever was begun must end within this time. */
const END_MS = 120_000
/** A link stays in use for a minute if its replica is killed. A short storm does not wait for it. */
const PATIENCE_MS = SECONDS > 10 ? END_MS : 5000

/** The store of the replicas. */
export interface StormStore {
  readonly port: number
  /** The URL of the store, reached at another port of this machine. */
  urlAt (port: number): string
}

/** @param start starts the store. */
export function testStorm (t: Test, start: (t: Test) => Promise<StormStore>): void {
  t.setTimeout(SECONDS * 1000 + 3 * END_MS)
  t.test('what was acknowledged is there once, whatever was killed, paused, released, cut or lost', {
    timeout: SECONDS * 1000 + 2 * END_MS
  }, async (t) => {
    const over = new AbortController()
    // Before the teardown ends the replicas: no other may start then.
    try {
      await checkStorm(t, await start(t), over)
    } finally {
      over.abort()
    }
  })
}

async function checkStorm (t: Test, store: StormStore, over: AbortController): Promise<void> {
  const file = join(await makeFolder(t), 'notes')
  const tokens = await writeTokens(t)
  const { places, faulty } = await startAll(t, store, { file, tokens: tokens.file, signal: over.signal })
  const origin = await startNginx(t, places.map(({ port }) => port))
  const client = new StormClient(`${origin}/mcp`, tokens.strong)
  const tasks = new TaskLedger(client)
  const uploads = new UploadLedger(client, { origin, patienceMs: PATIENCE_MS, endMs: END_MS })
  const entries = new EntryLedger(client)
  const keys = new KeyLedger(client)
  const weak = new WeakClient(new StormClient(`${origin}/mcp`, tokens.weak))

  const calm = new AbortController()
  const ended = new AbortController()
  const polling = weak.poll(() => [...tasks.open, ...uploads.open], ended.signal)
  const work = Promise.all([
    tasks.follow(calm.signal, END_MS),
    ...repeat(CLIENTS.tasks, calm.signal, async (_, number) => await tasks.begin(number)),
    ...repeat(CLIENTS.uploads, calm.signal, async (_, number) => await uploads.begin(number)),
    ...repeat(CLIENTS.entries, calm.signal, async (name, number) => await entries.add(name, number)),
    ...repeat(CLIENTS.keys, calm.signal, async (name) => await keys.call(name))
  ])
  const wreaking = wreak(places, faulty, { seconds: SECONDS, pauseMs: 2 * LEASE_MS })
    .finally(() => calm.abort())
  // A client that fails ends the test at once.
  const [faults] = await Promise.all([wreaking, work])
  await uploads.finish()
  ended.abort()
  await polling
  const exits = await Promise.all(faults.exits)
  over.abort()

  const notes = toValues(await readFile(file, 'utf8').catch(() => ''))
  const doubled = [...notes].filter(([, { size }]) => size > 1)
  t.strictSame(tasks.open, [], 'every task ended')
  const unexplained = findUnexplained([...tasks.failed, ...uploads.failed], faults.times)
  t.strictSame(unexplained, [], 'no task failed whose replica was not lost too often')
  t.strictSame(tasks.dropped, [], 'each acknowledged answer is the one that its handler got')
  t.strictSame(doubled, [], 'a step has one value in all runs')
  t.strictSame(tasks.findWrong(notes), [], 'the result of a task has the values of its steps')
  t.strictSame(weak.leaked, [], 'to the weak token no task exists')
  t.strictSame(uploads.problems, [], 'each acknowledged upload was read once, and as it was sent')
  t.strictSame(await entries.findLost(), [], 'each acknowledged entry is there once')
  t.strictSame(keys.replaced, [], 'each key has one answer')
  t.strictSame(exits.filter((code) => code !== 0), [], 'each replica that was told to stop exited with 0')
  const counts = { ...tasks.begun, uploads: uploads.acknowledged, entries: entries.count, keys: keys.count }
  t.notOk(Object.values({ ...counts, refusals: weak.refusals }).includes(0), 'each client did something')
  t.comment(`${SECONDS} s: ${[...faults.counts].map(([fault, count]) => `${count} ${fault}`).join(', ')}`)
  t.comment(`${counts.work} tasks of both releases and ${counts.work_next} of the second begun, ` +
    `${tasks.results.size} ended; ${client.unknownTools} calls met the first`)
  t.comment(`${counts.remind} tasks with questions beside sleeps; acknowledged answers: ${tasks.answers}; ` +
    `acknowledged answers dropped: ${tasks.dropped.length}`)
  t.comment(`${counts.uploads} uploads acknowledged, ${uploads.inDoubt} attempts in doubt, ` +
    `${uploads.givenUp} given up; ${weak.refusals} refusals of the weak token, ${weak.leaked.length} leaked`)
  const acknowledged = uploads.failed.filter(({ isAcknowledged }) => isAcknowledged)
  t.comment(`failed after losses in a row: ${tasks.failed.length} tasks, ${uploads.failed.length} uploads, ` +
    `${acknowledged.length} of them acknowledged`)
  t.comment(`${counts.keys} keys of ${3 * counts.keys} calls; ${counts.entries} entries; ` +
    `${client.retries} requests sent again`)
}

/** Two tokens of one subject and client: the weak one lacks the scope of the tasks. */
async function writeTokens (t: Test) {
  const file = join(await makeFolder(t), 'tokens.yaml')
  const create = (scopes: readonly string[]) => createStaticToken({
    subject: 'ada', clientId: 'storm', scopes, expiresAt: new Date(Date.now() + 86_400_000)
  })
  const [strong, weak] = [create([SCOPE]), create([])]
  await writeFile(file, `${strong.entry}\n${weak.entry}\n`)
  return { file, strong: strong.token, weak: weak.token }
}

interface StormFiles { readonly file: string, readonly tokens: string, readonly signal: AbortSignal }

/** The connections to the store, and the replicas of both releases. */
async function startAll (t: Test, store: StormStore, { file, tokens, signal }: StormFiles) {
  const faulty = await openFaultyConnection(t, store.port)
  const releases = await Promise.all(toReleases(file).map(async (files) => ({
    TRIVET_CATALOG: await writeCatalog(t, files)
  })))
  const environment = {
    ...await toReplicaEnvironment(t, store.urlAt(faulty.port), releases[0]?.TRIVET_CATALOG ?? ''),
    TRIVET_AUTH: 'tokens',
    TRIVET_AUTH_TOKENS: tokens,
    TRIVET_TASK_LEASE_MS: String(LEASE_MS),
    TRIVET_WATCH: 'off'
  }
  return { places: await openPlaces(t, { signal, places: 3, spares: 2, environment, releases }), faulty }
}

/** Starts clients that do the work again and again until the signal aborts. */
function repeat (
  clients: number, signal: AbortSignal, work: (name: string, number: number) => Promise<void>
): Array<Promise<void>> {
  return Array.from({ length: clients }, async (_, client) => {
    for (let number = 0; !signal.aborted; number++) await work(`${client}-${number}`, number)
  })
}
