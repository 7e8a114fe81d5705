// Replicas of a service over one store, in one process, and hosts without tasks that call its tools. Each
// replica can be killed, or lose a reply, at any operation of the store.

import { createTokenWatch } from '../../src/platform/access/token-watch.ts'
import { ownerOf, type Principal } from '../../src/platform/access/principal.ts'
import { composeMethods } from '../../src/app/methods.ts'
import type { OpenedState } from '../../src/app/state.ts'
import { openTasks } from '../../src/app/tasks.ts'
import { clock, timers } from '../../src/base/time.ts'
import { createCatalog } from '../../src/catalog/compiled/catalog.ts'
import { createScopeGroups } from '../../src/request/pipeline/scope-groups.ts'
import type { Snapshot } from '../../src/catalog/compiled/snapshot.ts'
import { OpenStreams } from '../../src/platform/limits/open-streams.ts'
import { completeConfig } from '../../src/ops/config/config.ts'
import { toEnvelopeJson, readEnvelope } from '../../src/platform/protocol/envelope.ts'
import { missingClientCapability } from '../../src/platform/protocol/errors.ts'
import { isRequest, readMessage } from '../../src/platform/protocol/json-rpc.ts'
import { Lifetimes } from '../../src/request/pipeline/lifetimes.ts'
import { Pipeline } from '../../src/request/pipeline/pipeline.ts'
import { createToolRuns } from '../../src/request/pipeline/run-tool.ts'
import { SealedInputRound } from '../../src/request/questions/sealed-input-round.ts'
import { createMemoryStateStore } from '../../src/platform/store/backends/memory/state-store.ts'
import type { ChangeEvent } from '../../src/platform/store/changes/change-event.ts'
import { createLocalBroadcast } from '../../src/platform/store/changes/local-broadcast.ts'
import { createSubscriptions } from '../../src/platform/store/changes/subscriptions.ts'
import { createLocalDueTimes } from '../../src/platform/store/records/due-times.ts'
import { StoreUnavailable } from '../../src/platform/store/records/state-store.ts'
import { createSealer } from '../../src/platform/store/sealing/sealer.ts'
import type { Message } from '../helpers/request.ts'

export const LEASE_MS = 10_000
const ADA: Principal = { subject: 'ada', scopes: new Set() }
const OWNER = `tasks-${ownerOf(ADA)}`
const FOREVER = new Promise<never>(() => {})

/**
 * `killed-before` and `killed-after`: the process ends before or after the effect of the operation. `lost`:
 * the reply is lost after the effect. `refused`: there is no effect. `away`: this operation and all of the
 * next seconds have none. `paused`: the process stops for three leases after the effect.
 */
export const FAULTS = ['killed-before', 'killed-after', 'lost', 'refused', 'away', 'paused'] as const
export type Fault = typeof FAULTS[number]

/** Longer than the service tries an operation of a request again, in milliseconds. */
const AWAY_MS = 3000

const CONFIG = completeConfig({
  stateUrl: 'memory:', taskLeaseMs: LEASE_MS, maxCallsPerCaller: 'off', taskWaitMs: 5000
})

/** How a host gets an answer: the result or the error. `undefined`: the connection broke. */
type Reply = { readonly result?: Message, readonly error?: Message } | undefined

export interface ToolCall { readonly name: string, readonly args: object, readonly key?: string | undefined }

export type Replica = ReturnType<ReturnType<typeof openPlainWorld>['openReplica']>

export function openPlainWorld (snapshot: Snapshot) {
  const store = createMemoryStateStore()
  const dueTimes = createLocalDueTimes()
  const broadcast = createLocalBroadcast()
  const sealer = createSealer(['secret'])
  const replicas: Array<{ kill (): void }> = []

  function openReplica () {
    let operations = 0
    let plan: { readonly at: number, readonly fault: Fault, readonly awayMs: number } | undefined
    let isDead = false
    let awayUntil = -Infinity
    let pausedUntil = -Infinity
    let delay: { readonly at: number, readonly ms: number } | undefined
    let tellOfDeath = (_: undefined): void => {}
    const death = new Promise<undefined>((resolve) => { tellOfDeath = resolve })
    const die = () => {
      isDead = true
      tellOfDeath(undefined)
    }

    async function operate<T> (work: () => Promise<T>): Promise<T> {
      if (isDead) return await FOREVER
      const isDelayed = operations === delay?.at
      const fault = operations++ === plan?.at ? plan.fault : undefined
      await untilAwake()
      if (isDelayed) await timers.pause(delay?.ms ?? 0)
      if (fault === 'killed-before') die()
      if (fault === 'away') awayUntil = clock.now() + (plan?.awayMs ?? AWAY_MS)
      if (fault === 'refused' || clock.now() < awayUntil) throw new StoreUnavailable(new Error('refused'))
      if (isDead) return await FOREVER
      const outcome = await work()
      if (fault === 'killed-after') die()
      if (fault === 'paused') pausedUntil = clock.now() + 3 * LEASE_MS
      await untilAwake()
      if (isDead) return await FOREVER
      if (fault === 'lost') throw new StoreUnavailable(new Error('the reply was lost'))
      return outcome
    }
    async function untilAwake (): Promise<void> {
      if (pausedUntil > clock.now()) await timers.pause(pausedUntil - clock.now())
    }
    function wrap<T extends object> (parts: T): T {
      return Object.fromEntries(Object.entries(parts).map(([key, method]) => [
        key, async (...args: unknown[]) => await operate(async () => await method(...args))
      ])) as T
    }

    const quiet = () => {}
    const log = {
      debug: quiet, info: quiet, trace: quiet, warn: quiet, error: quiet, fatal: quiet, child: () => log
    }
    const catalog = createCatalog(snapshot)
    const state = {
      config: CONFIG,
      environment: {},
      log,
      clock: {},
      admitsAnonymous: true,
      backend: {
        store: wrap(store),
        dueTimes: wrap(dueTimes),
        broadcast: {
          ...broadcast,
          publish: async (event: ChangeEvent) => { if (!isDead) await broadcast.publish(event) }
        }
      },
      sealer,
      catalog
    } as unknown as OpenedState
    const tasks = openTasks(state)
    const { methods, dependencies } = composeMethods(state, {
      subscriptions: createSubscriptions(broadcast, { keepAliveMs: 86_400_000, onSlowReader: quiet }),
      tasks,
      files: { open () { throw new TypeError('no files here') }, linkTo: () => undefined },
      openStreams: new OpenStreams(CONFIG.maxStreams),
      tokenWatch: createTokenWatch({}),
      scopeGroups: createScopeGroups(catalog),
      changingLists: new Set(),
      lists: { noteUse: quiet, outdate: quiet },
      countHandle: undefined
    })
    const pipeline = new Pipeline({
      lifetimes: new Lifetimes(),
      methods,
      observer: { begin: quiet, end: quiet },
      limiter: { admit: quiet },
      support: {
        era: 'modern',
        snapshotFor: () => snapshot,
        openRound: (round) => new SealedInputRound({ sealer, ttlMs: 600_000 }, round),
        toMissingCapability: missingClientCapability
      }
    })
    tasks.start(createToolRuns(catalog, pipeline, dependencies))

    /** Resolves to `undefined` if the replica dies before it answers. */
    async function call ({ name, args, key }: ToolCall): Promise<Reply> {
      const envelope = { info: { name: 'host', version: '1.0.0' }, capabilities: {} }
      const params = { name, arguments: args, _meta: toEnvelopeJson({ ...envelope, progressToken: 1 }) }
      const message = readMessage(JSON.parse(JSON.stringify({
        jsonrpc: '2.0', id: 1, method: 'tools/call', params
      })))
      if (!isRequest(message)) throw new TypeError('the message is not a request')
      const answering = new Promise<Reply>((resolve) => {
        pipeline.serve(message, {
          principal: ADA,
          envelope: readEnvelope(message.params),
          requestId: 'r',
          log,
          headers: key === undefined ? {} : { 'idempotency-key': key }
        }, {
          onPending: quiet,
          notify: quiet,
          succeed: (json) => { if (!isDead) resolve({ result: JSON.parse(String(json)) }) },
          fail: ({ code, message }) => { if (!isDead) resolve({ error: { code, message } }) },
          leaveUnanswered: quiet,
          openStream () { throw new TypeError('this request opens no stream') }
        })
      })
      return await Promise.race([answering, death])
    }

    const replica = {
      call,
      /** Lets the operation with this number, from now on, fail. */
      fail (at: number, fault: Fault, awayMs = AWAY_MS) { plan = { at: operations + at, fault, awayMs } },
      /** Lets the operation with this number, from now on, begin later. Others do not wait for it. */
      delay (at: number, ms: number) { delay = { at: operations + at, ms } },
      get operations () { return operations },
      get isDead () { return isDead },
      /** Ends the process. Its timers stop too. */
      kill () {
        die()
        tasks.stopTaking()
        tasks.close().catch(quiet)
      }
    }
    replicas.push(replica)
    return replica
  }

  return {
    openReplica,
    /** Resolves to how many calls count as unfinished. */
    countPlaces: async () => (await store.list(`open-${OWNER}`)).size,
    /** Ends all replicas. */
    async close (): Promise<void> {
      for (const { kill } of replicas) kill()
      await store.close()
    }
  }
}
