// The model of what handlers do: their runs, steps, sleeps and rights.

import type { Cluster } from '../cluster.ts'
import { LEASE_MS } from '../replica.ts'
import type { ModelWorld } from '../world.ts'
import type { Access, Job, Run } from './job.ts'

/** After this many losses in a row a task fails. */
export const MAX_CRASHES = 5
/** The lease of a run lasts at least this long after the call of its handler, in milliseconds. */
const CERTAIN_MS = 4000
/** The lease of a run counts from the moment at which its renewal was asked for. In milliseconds. */
const LEASE_MARGIN_MS = 100
/** A replica knows the time of the store this well, and a sleep may end a moment early. In milliseconds. */
const MAX_EARLY_MS = 1500

export type SeenCluster = Pick<
  Cluster, 'losses' | 'isUndisturbed' | 'isCurrentStopping' | 'leaseLostUntil' | 'stopsBetweenEvents'
>

export class Runs {
  readonly #world: ModelWorld
  readonly #cluster: SeenCluster
  readonly #find: (name: string) => Job
  /** Since when there are no faults. */
  calmAt = Infinity

  constructor (world: ModelWorld, cluster: SeenCluster, find: (name: string) => Job) {
    this.#world = world
    this.#cluster = cluster
    this.#find = find
  }

  /** Notes a call of a handler. Returns the name of the run. */
  called (
    name: string, scopes: readonly string[], by: Run['by'] = 'handler', runName?: string
  ): string {
    const job = this.#find(name)
    const run: Run = {
      name: runName ?? `${name} run ${job.runs.size + 1}`,
      by,
      process: this.#world.current,
      at: this.#world.now,
      losses: this.#cluster.losses,
      scopes: toText(scopes),
      failures: []
    }
    this.#checkCall(job, run)
    job.runs.set(run.name, run)
    if (by === 'handler') job.run = run
    this.#checkScopes(job, run)
    return run.name
  }

  left (name: string, runName: string): void {
    const run = this.#find(name).runs.get(runName)
    if (run !== undefined) run.hasLeft = true
  }

  begin (name: string, key: string, runName: string): string {
    const job = this.#find(name)
    const step = job.steps.get(key) ?? { begins: 0 }
    job.steps.set(key, step)
    this.#world.note(`${name} begins ${key}`)
    const what = `${key} of ${name} began`
    if (step.value !== undefined) this.#world.fail(`${what} again after its result was acknowledged`)
    if (step.isSettled === true) this.#world.fail(`${what} again after its failure was kept`)
    if (job.tool === 'fragile' && step.begins > 0) this.#world.fail(`${what} twice, and may not be repeated`)
    const isUndo = key.startsWith('undo')
    if (!isUndo && job.known === 'answer') {
      this.#world.fail(`${what} after its call was answered without a task`)
    }
    if (!isUndo && job.endedAt !== undefined && this.#world.now > job.endedAt + LEASE_MS) {
      this.#world.fail(`${what} more than a lease after the end of its task`)
    }
    this.#checkAlone(job, runName, what)
    return `${name} ${key} ${++step.begins}`
  }

  /** Checks that a handler may be called now. */
  #checkCall (job: Job, { by, name }: Run): void {
    // A repetition of the call may call its handler too, and begins no step.
    if (job.copies > 1) return
    const what = `the ${by} of ${job.name} was called in ${name}`
    if (by === 'handler' && job.undoneSince !== undefined) this.#world.fail(`${what} after its undo`)
    for (const other of job.runs.values()) {
      if (other.by !== by || other.hasLeft === true) continue
      if (by === 'handler' && job.tool === 'fragile') {
        this.#world.fail(`${what}, and ${other.name} has not ended: it may not be repeated`)
      }
      const { heldAt = -Infinity } = other
      const isHeld = this.#world.now < heldAt + LEASE_MS - LEASE_MARGIN_MS
      if (isHeld && this.#cluster.isUndisturbed(other.process, heldAt + 1)) {
        this.#world.fail(`${what} within the lease of ${other.name}, which goes on`)
      }
    }
  }

  /** Checks that no other run of the task goes on. */
  #checkAlone (job: Job, runName: string, what: string): void {
    const run = job.runs.get(runName)
    if (run === undefined) return
    run.hasBegun = true
    // After a pause beyond a lease no step begins before the lease was renewed.
    const pausedUntil = this.#cluster.leaseLostUntil(run.process)
    if (pausedUntil > run.at) run.heldAt = pausedUntil
    const runs = [...job.runs.values()]
    const isCurrent = runs.findLast((other) => other.by === run.by && isOfTask(job, other)) === run
    // Another run is called once the lease of this one is over.
    if (!isCurrent && this.#cluster.stopsBetweenEvents) this.#world.fail(`${what} in ${run.name}, and a later run was called`)
    if (run.by === 'handler' && job.undoneSince !== undefined) this.#world.fail(`${what} after its undo was called`)
    for (const other of runs) {
      const isCertain = this.#world.now - other.at < CERTAIN_MS || other.at > this.calmAt
      if (other === run || other.by !== run.by || other.hasBegun !== true || other.hasLeft === true) continue
      if (isCertain && this.#cluster.isUndisturbed(other.process, other.at)) {
        this.#world.fail(`${what} in ${run.name}, and ${other.name} goes on`)
      }
    }
  }

  acknowledge (name: string, key: string, value: string, runName: string): void {
    const job = this.#find(name)
    const step = job.steps.get(key)
    if (step === undefined) return this.#world.fail(`${key} of ${name} never ran`)
    if (step.value !== undefined && step.value !== value) {
      this.#world.fail(`the result of ${key} of ${name} was ${step.value}, and is ${value}`)
    }
    const isNew = step.value === undefined
    step.value = value
    // The write that has kept this result has all failures of the run so far.
    for (const other of isNew ? job.runs.get(runName)?.failures ?? [] : []) other.isSettled = true
  }

  failed (name: string, key: string, runName: string): void {
    const job = this.#find(name)
    const step = job.steps.get(key)
    if (step === undefined) return this.#world.fail(`${key} of ${name} never ran`)
    step.hasFailed = true
    job.runs.get(runName)?.failures.push(step)
  }

  /** Checks what the undo of a task is told of a step. */
  recalled (name: string, key: string, value: string | undefined): void {
    const { value: acknowledged } = this.#find(name).steps.get(key) ?? {}
    if (acknowledged === undefined || acknowledged === value) return
    this.#world.fail(`the undo of ${name} was told ${String(value)} of ${key}, whose result is ${acknowledged}`)
  }

  sleeping (name: string, key: string): void {
    const { sleeps } = this.#find(name)
    if (!sleeps.has(key)) sleeps.set(key, this.#world.now)
  }

  slept (name: string, key: string, ms: number): void {
    const sinceMs = this.#world.now - (this.#find(name).sleeps.get(key) ?? Infinity)
    if (sinceMs >= ms - MAX_EARLY_MS) return
    this.#world.fail(`${key} of ${name} was to take ${ms} ms, and took ${sinceMs} ms`)
  }

  /** Notes that a caller with these scopes asks for the task. Returns it: say when it is certain. */
  access (job: Job, scopes: Iterable<string>): Access {
    const access: Access = { scopes: toText(scopes), sentAt: this.#world.now }
    job.accesses.push(access)
    return access
  }

  /** Checks that a run has the scopes of the last one who was allowed to see the task before it began. */
  #checkScopes ({ name, accesses, run }: Job, { scopes, by }: Run): void {
    // A run is claimed within a lease before its handler is called. An access after the end of a task changes
    // nothing, and the end came after the last call of its handler.
    const claimedAt = by === 'undo' ? run?.at ?? 0 : this.#world.now - LEASE_MS
    const isLast = accesses.some((access) => access.scopes === scopes && !accesses.some(
      ({ sentAt, ackedAt = Infinity }) => sentAt > (access.ackedAt ?? Infinity) && ackedAt < claimedAt
    ))
    if (!isLast) this.#world.fail(`${name} runs with the scopes ${scopes}, which are not those of the last access`)
  }

  crash (name: string, by: Run['by']): void {
    const job = this.#find(name)
    // The task has left the replica in order, or does so: this is no loss.
    if (this.#cluster.isCurrentStopping) return
    const crashes = ++job.crashes[by]
    // An operator who lets it run again begins the count anew. A repetition of the call may begin beside it.
    if (crashes > MAX_CRASHES * (1 + job.retries) + job.copies - 1) {
      this.#world.fail(`the ${by} of ${name} has ended ${crashes} replicas`)
    }
  }
}

/** A repetition of a call may call its handler too. It never begins a step. */
function isOfTask ({ copies }: Job, { hasBegun }: Run): boolean { return copies === 1 || hasBegun === true }

function toText (scopes: Iterable<string>): string { return [...scopes].sort().join(' ') }
