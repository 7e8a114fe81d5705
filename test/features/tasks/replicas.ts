// Replicas of tasks over one store, in one process. Each can be killed, paused, or lose a reply, at any
// operation of the store.

import { elicit } from '../../../src/platform/author/input-request.ts'
import type { Principal } from '../../../src/platform/access/principal.ts'
import { clock, timers } from '../../../src/base/time.ts'
import { TASKS_CAPABILITY } from '../../../src/platform/protocol/tasks.ts'
import { Lifetime, RequestCancelled, ServiceClosing } from '../../../src/request/pipeline/lifetime.ts'
import type { RequestContext } from '../../../src/request/pipeline/request-context.ts'
import { runRound } from '../../../src/request/pipeline/run-handler.ts'
import type { ToolRun, UpstreamTokens } from '../../../src/request/pipeline/seams.ts'
import { toProtocolError } from '../../../src/request/pipeline/to-protocol-error.ts'
import type { InputRound, Journal } from '../../../src/request/questions/input-round.ts'
import { SealedInputRound } from '../../../src/request/questions/sealed-input-round.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import { createLocalDueTimes } from '../../../src/platform/store/records/due-times.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'
import { createSealer, type Sealer } from '../../../src/platform/store/sealing/sealer.ts'
import { createTasks, type Tasks } from '../../../src/features/tasks/tasks.ts'

export const LEASE_MS = 10_000
export const ADA: Principal = { subject: 'ada', scopes: new Set(['books']) }

/**
 * `killed-before` and `killed-after`: the process ends before or after the effect of the operation. `lost`:
 * the reply is lost after the effect. `refused`: there is no effect. `paused`: the process stops after the
 * effect, for three leases by default.
 */
export type Fault = 'killed-before' | 'killed-after' | 'lost' | 'refused' | 'paused'

/** What the handler of the tool does. @param tell tells its progress. */
export type Script = (
  round: InputRound, replica: string, principal: Principal, tell: (done: number) => void
) => Promise<string>

const toObject = (members: string) => `{${members}}`
/** Never resolves. Each caller has a promise of its own: a shared one would hold all callers in memory. */
const waitForever = async () => await new Promise<never>(() => {})

/** Where a request comes from. */
type Source = Pick<RequestContext['caller'], 'address' | 'headers'>

interface ReplicaOptions {
  readonly secret?: string
  /** Whether the catalog has tools with tasks. */
  readonly isUsed?: boolean
  /** Whether the catalog has the tool. */
  readonly knows?: boolean
  /** How far the clock of the replica is ahead of that of the store. */
  readonly aheadMs?: number | undefined
  /** The fingerprint of the tool. */
  readonly code?: string
  readonly mayGoOnChanged?: boolean
  /** How long each operation of the store takes. */
  readonly slowMs?: number
  /** Whether its records have a later form. */
  readonly isNewer?: boolean
  /** How long the process stops if it is paused. */
  readonly pauseMs?: number
}

interface WorldOptions {
  readonly mayRerun?: boolean
  readonly isRequired?: boolean
  /** Undoes the work of tasks that were cancelled or have failed. */
  readonly undo?: Script
  readonly ttlMs?: number
  readonly maxPerOwner?: number
  /** The time limit of a call that is no task. */
  readonly timeoutMs?: number
  /** The scopes of the tool. */
  readonly scopes?: readonly string[]
  readonly upstreamTokens?: UpstreamTokens
}

export function openWorld (script: Script, options: WorldOptions = {}) {
  const { mayRerun = true, isRequired = false, ttlMs = 3_600_000, maxPerOwner = 1000 } = options
  const { scopes: toolScopes = ['books'], timeoutMs = 3_600_000 } = options
  const store = createMemoryStateStore()
  const dueTimes = createLocalDueTimes()
  const broadcast = createLocalBroadcast()
  const roundOptions = { sealer: createSealer(['secret']), ttlMs: 60_000 }

  /** Each replica may have another release. */
  function openReplica (name: string, {
    secret = 'secret', knows = true, isUsed = true, aheadMs = 0, code = 'code', mayGoOnChanged = true,
    slowMs = 0, isNewer = false, pauseMs = 3 * LEASE_MS
  }: ReplicaOptions = {}) {
    const rule = {
      isForQuestions: false,
      relaysQuestions: false,
      requiredCapabilities: isRequired ? {} : undefined,
      ttlMs,
      keepResultMs: 3_600_000,
      mayRerun,
      mayGoOnChanged,
      undo: options.undo,
      fingerprint: code
    }
    let operations = 0
    let plan: { readonly at: number, readonly fault: Fault } | undefined
    let isDead = false
    let pausedUntil = 0
    const lifetimes = new Set<Lifetime>()
    const warnings: string[] = []
    const infos: string[] = []

    async function operate<T> (work: () => Promise<T>): Promise<T> {
      if (isDead) return await waitForever()
      const fault = operations++ === plan?.at ? plan.fault : undefined
      await untilAwake()
      if (slowMs > 0) await timers.pause(slowMs)
      if (fault === 'killed-before') isDead = true
      if (fault === 'refused') throw new StoreUnavailable(new Error('refused'))
      if (isDead) return await waitForever()
      const outcome = await work()
      if (fault === 'killed-after') isDead = true
      if (fault === 'paused') pausedUntil = now() + pauseMs
      await untilAwake()
      if (isDead) return await waitForever()
      if (fault === 'lost') throw new StoreUnavailable(new Error('the reply was lost'))
      return outcome
    }
    async function untilAwake (): Promise<void> {
      if (pausedUntil > now()) await timers.pause(pausedUntil - now())
    }
    function wrap<T extends object> (parts: T): T {
      return Object.fromEntries(Object.entries(parts).map(([key, method]) => [
        key, async (...args: unknown[]) => await operate(async () => await method(...args))
      ])) as T
    }
    const now = () => clock.now() + aheadMs
    const log = {
      debug () {},
      info (_: object, message: string) { infos.push(message) },
      error () {},
      warn (_: object, message: string) { warnings.push(message) },
      child: () => log
    }
    const tool = { key: 'tool', scopes: toolScopes, task: rule }
    const writer = {
      writeTask: toObject,
      writeInputRequired: toObject,
      fromCurrent: (json: string) => json,
      get current () { return writer }
    }
    const snapshot = {
      view: ({ scopes }: Principal) => ({
        tool: () => knows && toolScopes.every((scope) => scopes.has(scope)) ? tool : undefined
      }),
      primitives: { tools: knows ? [tool] : [] },
      hierarchy: new Map(),
      writer,
      server: { continuesCalls: true }
    }
    const tasks: Tasks = createTasks({
      store: wrap(store),
      dueTimes: wrap(dueTimes),
      broadcast: {
        ...broadcast,
        publish: async (event) => { if (!isDead && !world.losesEvents) await broadcast.publish(event) },
        send: async (message) => { if (!isDead && !world.losesEvents) await broadcast.send(message) }
      },
      patienceMs: 30_000,
      sealer: isNewer ? toNewer(createSealer([secret])) : createSealer([secret]),
      log,
      maxPerOwner,
      graceMs: 1000,
      readingMs: 1000,
      waitMs: 25_000,
      leaseMs: LEASE_MS,
      now,
      snapshot: () => snapshot as never,
      isUsed: () => isUsed,
      ...(options.upstreamTokens !== undefined && { upstreamTokens: options.upstreamTokens }),
      auditedArguments: (name, args) => ({ of: name, args })
    })

    function toRequest (journal: Journal, principal: Principal, from: Source = {}, runs = script) {
      const lifetime = new Lifetime()
      lifetime.startClock()
      const request = {
        lifetime,
        observed: { special: undefined, startedAt: clock.monotonic() },
        snapshot,
        writer,
        principal,
        caller: { principal, ...from },
        revision: '2026-07-28',
        requestId: 'r',
        envelope: { clientCapabilities: TASKS_CAPABILITY, clientInfo: undefined },
        onProgress: undefined
      } as unknown as RequestContext
      const round = new SealedInputRound(roundOptions, {
        inputResponses: undefined,
        requestState: undefined,
        capabilities: { elicitation: { form: {} } },
        journal,
        bind: () => ({ owner: 'ada', method: 'tools/call', name: 'tool', args: {} })
      })
      const tell = (done: number) => request.onProgress?.({ progress: done, message: `Part ${done}` })
      const work = async () => await runs(round, name, principal, tell)
      const run = () => runRound(request, round, timeoutMs, work, (text) => JSON.stringify(text))
      return { request, lifetime, run }
    }
    tasks.start({
      accepts: () => knows,
      run ({ journal, outlet, undone, caller: { principal, address } }: ToolRun) {
        const runs = undone === undefined ? script : options.undo
        const { request, lifetime, run } = toRequest(journal, principal, { address }, runs)
        request.onProgress = (progress) => outlet.progress?.(progress)
        outlet.onPending(lifetime)
        lifetimes.add(lifetime)
        Promise.resolve(run()).then((result) => outlet.succeed(result), (error: unknown) => {
          if (error instanceof RequestCancelled) outlet.leaveUnanswered()
          else outlet.fail(toProtocolError(error, 'r'))
        })
      }
    })
    /** The round of a request that waits for its call. */
    const openWaitingRound = () => new SealedInputRound(roundOptions, {
      inputResponses: undefined,
      requestState: undefined,
      capabilities: { elicitation: { form: {} } },
      bind: () => ({ owner: 'ada', method: 'tools/call', name: 'tool', args: {} })
    })
    /** Calls a method of tasks. */
    async function ask (method: string, params: object, principal = ADA): Promise<TaskState> {
      const caller = { envelope: { clientCapabilities: TASKS_CAPABILITY } }
      const request = { principal, caller, snapshot: { writer: { write: toObject } } }
      const call = tasks.methods.find((one) => one.name === method)?.open(params, request as never)
      return JSON.parse(String(await call?.handle()))
    }
    return {
      name,
      tasks,
      ask,
      warnings,
      infos,
      /** Lets the operation with this number, from now on, fail. */
      fail (at: number, fault: Fault) { plan = { at: operations + at, fault } },
      get operations () { return operations },
      get isDead () { return isDead },
      kill () { isDead = true },
      /** Stops the runs that no request began, as a replica does that ends. */
      stopRuns () { for (const lifetime of lifetimes) lifetime.stop(new ServiceClosing()) },
      /**
       * Calls the tool. Resolves to the id of the task, or to the result of the call.
       * @param key under which the call may be repeated.
       */
      async call (principal = ADA, address?: string, key?: string): Promise<string> {
        // Its journal is that of the start, which takes the request.
        const prepared = toRequest({
          get state () { return journal().state },
          get isTask () { return journal().isTask },
          get isSuspended () { return journal().isSuspended },
          allowStep: () => journal().allowStep(),
          keep: (key) => journal().keep(key),
          ask: (key, json) => journal().ask(key, json),
          enter: (...operations) => journal().enter(...operations),
          leave: () => journal().leave(),
          finish: () => journal().finish(),
          runStep: async (key, work) => await journal().runStep(key, work),
          sleep: async (ms, key, wait) => await journal().sleep(ms, key, wait)
        }, principal, { address, headers: { 'idempotency-key': key } })
        const journal = () => {
          if (start === undefined) throw new TypeError('the call has not begun')
          return start.journal
        }
        const start = tasks.starter.open(prepared.request, {
          tool: tool as never, args: {}, isRetry: false, openRound: openWaitingRound
        })
        const outcome = await start?.run(prepared.run)
        if (typeof outcome !== 'object' || !('work' in outcome)) return String(outcome)
        outcome.outlet.onPending(prepared.lifetime)
        outcome.work.then((result) => outcome.outlet.succeed(result), (error: unknown) => {
          if (error instanceof RequestCancelled) outcome.outlet.leaveUnanswered()
          else outcome.outlet.fail(toProtocolError(error, 'r'))
        })
        const waiting = { ...prepared.request, lifetime: new Lifetime() } as RequestContext
        const answer = JSON.parse(await outcome.answer(waiting)) as { taskId?: string }
        return answer.taskId ?? JSON.stringify(answer)
      }
    }
  }
  const world = {
    store,
    dueTimes,
    broadcast,
    openReplica,
    /** Whether replicas hear nothing of changes. */
    losesEvents: false
  }
  return world
}

/** The sealer of a release whose forms are two further: each present form here is an earlier one there. */
function toNewer (sealer: Sealer): Sealer {
  const shift = (bytes: Buffer, by: number) => Buffer.from(
    bytes.toString().replace(/"form":(\d+)/, (_, form) => `"form":${Number(form) + by}`)
  )
  return {
    ...sealer,
    seal: (purpose, bound, bytes, expiresAt) => sealer.seal(purpose, bound, shift(bytes, 2), expiresAt),
    open (purpose, bound, token) {
      const bytes = sealer.open(purpose, bound, token)
      return bytes && shift(bytes, -2)
    }
  }
}

/** A task, as its client sees it. */
export interface TaskState {
  readonly status: string
  readonly statusMessage?: string
  readonly inputRequests?: { readonly [key: string]: unknown }
  readonly result?: string
  readonly error?: { readonly message: string }
}

export const question = elicit.form({ message: 'Go on?', schema: { type: 'object', properties: {} } })
