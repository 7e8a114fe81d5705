// The clients of a chaos test: they begin tasks that work, ask and sleep, add entries to handles, and repeat
// calls under one key. Counts what was acknowledged, and what became of it.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { createStaticToken } from '../../src/platform/access/static-token-file.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { makeFolder } from '../helpers/folder.ts'
import { EntryLedger, KeyLedger } from './storm-calls.ts'
import { SCOPE, toReleases } from './storm-catalog.ts'
import { StormClient } from './storm-client.ts'
import { TaskLedger, toValues } from './storm-tasks.ts'

/** How many of each kind. */
const CLIENTS = { tasks: 4, entries: 3, keys: 2 }
/** After the faults, whatever was begun must end within this time. */
const END_MS = 60_000
const PROBE_EVERY_MS = 20

export interface LoadSetup {
  /** Says which catalog to serve, and whose token counts. */
  readonly environment: { readonly [variable: string]: string }
  readonly token: string
  /** Where the tools note what their steps returned. */
  readonly notes: string
}

export async function prepareLoad (t: Test, leaseMs: number): Promise<LoadSetup> {
  const folder = await makeFolder(t)
  const [notes, tokens] = [join(folder, 'notes'), join(folder, 'tokens.yaml')]
  const { entry, token } = createStaticToken({
    subject: 'ada', clientId: 'chaos', scopes: [SCOPE], expiresAt: new Date(Date.now() + 86_400_000)
  })
  await writeFile(tokens, `${entry}\n`)
  const environment = {
    TRIVET_CATALOG: await writeCatalog(t, toReleases(notes)[1]),
    TRIVET_AUTH: 'tokens',
    TRIVET_AUTH_TOKENS: tokens,
    TRIVET_TASK_LEASE_MS: String(leaseMs),
    TRIVET_MAX_CALLS_PER_CALLER: 'off',
    TRIVET_SECRETS: 'a secret of the replicas of one test',
    TRIVET_WATCH: 'off'
  }
  return { environment, token, notes }
}

/**
 * Runs the clients while the faults are made, and until what they have begun has ended. Fails the test if
 * something was lost or doubled, or does not end, and prints the figures.
 *
 * @param makeFaults resolves to what they were, in words.
 */
export async function checkLoad (
  t: Test, url: string, { token, notes: file }: LoadSetup, makeFaults: () => Promise<string>
): Promise<void> {
  const client = new StormClient(url, token)
  const tasks = new TaskLedger(client)
  const entries = new EntryLedger(client)
  const keys = new KeyLedger(client)
  const calm = new AbortController()
  const awayMs = new Map([['tasks', 0], ['handles', 0]])
  const measure = async (what: string, work: Promise<unknown>) => {
    const begun = performance.now()
    await work
    awayMs.set(what, Math.max(awayMs.get(what) ?? 0, Math.round(performance.now() - begun)))
  }
  const repeat = (clients: number, work: (name: string, number: number) => Promise<void>) => (
    Array.from({ length: clients }, async (_, index) => {
      for (let number = 0; !calm.signal.aborted; number++) {
        await work(`${index}-${number}`, number)
        await pause(PROBE_EVERY_MS)
      }
    })
  )
  const work = Promise.all([
    tasks.follow(calm.signal, END_MS),
    ...repeat(CLIENTS.tasks, async (_, number) => await tasks.begin(number)),
    ...repeat(CLIENTS.entries, async (name, number) => await measure('handles', entries.add(name, number))),
    ...repeat(CLIENTS.keys, async (name) => await keys.call(name)),
    ...repeat(1, async () => {
      const [taskId] = tasks.open
      if (taskId !== undefined) await measure('tasks', client.ask('tasks/get', { taskId }))
    })
  ])
  // A client that fails ends the test at once.
  work.catch(() => calm.abort())
  const [faults] = await Promise.all([makeFaults().finally(() => calm.abort()), work])

  const values = toValues(await readFile(file, 'utf8').catch(() => ''))
  const lost = { tasks: tasks.failed, entries: await entries.findLost(), results: tasks.findWrong(values) }
  const doubled = { steps: [...values].filter(([, { size }]) => size > 1), answers: keys.replaced }
  t.strictSame(lost, { tasks: [], entries: [], results: [] }, 'nothing acknowledged is lost')
  t.strictSame(doubled, { steps: [], answers: [] }, 'no step and no answer has two values')
  t.strictSame(tasks.open, [], 'no task is stranded')
  t.strictSame(tasks.dropped, [], 'each acknowledged answer is the one that its handler got')
  const begun = tasks.begun.work + tasks.begun.work_next + tasks.begun.remind
  t.notOk([begun, tasks.answers, entries.count, keys.count].includes(0), 'each client did something')
  t.comment(faults)
  t.comment(`acknowledged: ${begun} tasks, ${values.size} steps, ${tasks.results.size} results, ` +
    `${entries.count} entries of handles, ${3 * keys.count} calls of ${keys.count} keys`)
  t.comment(`lost: ${Object.values(lost).flat().length}, doubled: ${Object.values(doubled).flat().length}, ` +
    `stranded: ${tasks.open.length}; ${client.retries} requests sent again`)
  t.comment(`acknowledged answers: ${tasks.answers}; acknowledged answers dropped: ${tasks.dropped.length}`)
  t.comment(`longest time unavailable: ${[...awayMs].map(([what, ms]) => `${what} ${ms} ms`).join(', ')}`)
}
