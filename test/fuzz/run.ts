// Sends a number of requests to a service, in lanes beside each other, and looks for what must not be.

import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Files } from '../helpers/catalog-folder.ts'
import { checkAnswer, createLineCheck, readAnswer, SEALED } from './checks.ts'
import { NoAnswer, WireClient, type WireAnswer } from './client.ts'
import { Knowledge, type Draft } from './drafts.ts'
import { startTarget, type Leftovers } from './fuzzed-service.ts'
import { findGrowth, measureHeld, type Held } from './growth.ts'
import { learn } from './learning.ts'
import { makeRequest } from './requests.ts'
import { shrink } from './shrink.ts'

export interface FuzzOptions {
  readonly seed: number
  readonly requests: number
  /** Replaces files of the catalog. */
  readonly files?: Files
  /** Changes the app before it listens. */
  readonly prepare?: (app: FastifyInstance) => void
  /** Whether to look for the smallest request of each failure. True by default. */
  readonly shrinks?: boolean
  /** Changes each line of the log. Tests show by it that a canary is found. */
  readonly onLine?: (line: string) => string
  /** Called after each thousand requests. */
  readonly onProgress?: (sent: number) => void
}

export interface Failure {
  readonly index: number | undefined
  readonly problems: readonly string[]
  /** The smallest request that shows it. The first one, if it does not fail again. */
  readonly request?: Draft
  readonly answer?: WireAnswer | undefined
}

export interface FuzzReport {
  readonly sent: number
  /** How often each kind of request got each status. */
  readonly statuses: ReadonlyMap<string, number>
  readonly failures: readonly Failure[]
  readonly before: Held
  readonly after: Held
  readonly leftovers: Leftovers
}

const LANES = 64
/** A run that has failed this often has shown enough. */
const MAX_FAILURES = 6
/** The texts that the log must not have: the last ones. */
const MAX_SEALED = 20_000
/** The part of the requests after which the memory is measured first. */
const WARM_UP = 0.3
/** The service's own entries of a kind: the turn of the sweep of files, and the check of the store. */
const OWN_ENTRIES = 2
/** A change of the log is noticed a moment after its request. */
const LOG_MS = 20

export async function fuzz (options: FuzzOptions): Promise<FuzzReport> {
  const { seed, requests, shrinks = true, onProgress = () => {} } = options
  const statuses = new Map<string, number>()
  const failures: Failure[] = []
  const sealed = new Set<string>()
  const lineProblems: string[] = []
  let checkLine: (line: string) => string[] = () => []
  const target = await startTarget({
    ...options.files && { files: options.files },
    ...options.prepare && { prepare: options.prepare },
    onLine (line) {
      const text = options.onLine?.(line) ?? line
      for (const problem of checkLine(text)) lineProblems.push(`${problem}: ${text.slice(0, 2000)}`)
    }
  })
  checkLine = createLineCheck(target.secrets, (text) => sealed.has(text))
  const stopWatching = watchProcess((problem) => lineProblems.push(problem))
  const rememberSealed = (text: string) => {
    for (const [part] of text.matchAll(SEALED)) sealed.add(part)
    if (sealed.size > MAX_SEALED) for (const old of [...sealed].slice(0, MAX_SEALED / 2)) sealed.delete(old)
  }
  const suspects: Suspect[] = []
  /** The last requests, of all lanes. */
  const recent: Draft[] = []
  let [sent, next] = [0, 0]

  /** Sends requests until the series has come to its end. */
  async function runLane (lane: number, end: number): Promise<void> {
    const clients = { main: new WireClient(target.ports.main), admin: new WireClient(target.ports.admin) }
    const known = new Knowledge([undefined, ...target.callers][lane % (target.callers.length + 1)])
    while (next < end && suspects.length < MAX_FAILURES) {
      const index = next++
      const draft = makeRequest(seed, index, known, target)
      const { problems, answer } = await tryRequest(draft, clients)
      if (answer !== undefined) {
        count(statuses, `${draft.kind}: ${answer.status}`)
        if (problems.length === 0) learn(draft, answer, readAnswer(answer), known, rememberSealed)
      }
      recent.push(draft)
      if (recent.length > 2 * LANES) recent.shift()
      const found = [...problems, ...lineProblems.splice(0)]
      if (found.length > 0) suspects.push({ index, problems: found, drafts: [draft, ...recent] })
      if (++sent % 1000 === 0) onProgress(sent)
    }
    clients.main.close()
    clients.admin.close()
  }

  /**
   * Finds the smallest request that shows the first problem. A line of the log may come from any of the last
   * requests.
   */
  async function explain ({ index, problems, drafts }: Suspect): Promise<Failure> {
    const clients = { main: new WireClient(target.ports.main), admin: new WireClient(target.ports.admin) }
    const kind = kindOf(problems[0] ?? '')
    const fails = async (candidate: Draft) => {
      const found = (await tryRequest(candidate, clients)).problems
      await pause(LOG_MS)
      return [...found, ...lineProblems.splice(0)].some((problem) => kindOf(problem) === kind)
    }
    const [first] = drafts
    let failure: Failure = { index, problems, ...first && { request: first } }
    for (const draft of drafts) {
      if (!await fails(draft)) continue
      const request = await shrink(draft, fails)
      failure = { index, problems, request, answer: (await tryRequest(request, clients)).answer }
      break
    }
    lineProblems.length = 0
    clients.main.close()
    clients.admin.close()
    return failure
  }

  const runLanes = async (end: number) => {
    await Promise.all(Array.from({ length: LANES }, async (_, lane) => await runLane(lane, end)))
  }

  try {
    await runLanes(Math.floor(requests * WARM_UP))
    const before = await measureHeld(target.ports.admin)
    await runLanes(requests)
    for (const suspect of suspects) failures.push(shrinks ? await explain(suspect) : suspect)
    const after = await measureHeld(target.ports.admin)
    const connections = target.openConnections().map((request) => `a connection is open: ${request}`)
    const leftovers = await target.expireAndClose()
    const rest = [...findGrowth(before, after), ...connections, ...findLeftovers(leftovers), ...lineProblems]
    if (rest.length > 0) failures.push({ index: undefined, problems: rest })
    return { sent, statuses, failures, before, after, leftovers }
  } finally {
    stopWatching()
    await target.remove()
  }
}

/** A failure whose request is not certain yet. */
interface Suspect {
  readonly index: number
  readonly problems: readonly string[]
  readonly drafts: readonly Draft[]
}

/** Problems of one kind differ in names and numbers. */
function kindOf (problem: string): string {
  const [, message = ''] = /"message":"([^"]*)"/.exec(problem) ?? []
  return problem.replaceAll(/\d+/g, '0').slice(0, 40) + message
}

type Clients = { readonly [target in 'main' | 'admin']: WireClient }

async function tryRequest (
  draft: Draft, clients: Clients
): Promise<{ readonly problems: string[], readonly answer: WireAnswer | undefined }> {
  try {
    const answer = await clients[draft.target].send(draft)
    return { problems: checkAnswer(draft, answer), answer }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    // Bytes that are no request may be answered by the end of the connection.
    const mayBeSilent = draft.raw !== undefined
    return { problems: mayBeSilent ? [] : [error.message], answer: undefined }
  }
}

function findLeftovers (leftovers: Leftovers): string[] {
  return Object.entries(leftovers).flatMap(
    ([kind, left]) => left > OWN_ENTRIES ? [`${left} ${kind} are left`] : []
  )
}

/** Warnings and errors that nobody handles are failures too. */
function watchProcess (onProblem: (problem: string) => void): () => void {
  const onError = (error: unknown) => {
    onProblem(`not handled: ${error instanceof Error ? error.stack : String(error)}`)
  }
  process.on('unhandledRejection', onError).on('warning', onError)
  return () => { process.off('unhandledRejection', onError).off('warning', onError) }
}

function count (counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
