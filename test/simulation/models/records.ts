// What the models see of the store: records, opened, and due times. They check each write.

import { ownerOf } from '../../../src/platform/access/principal.ts'
import { endOfRun, phaseOf, type TaskRecord } from '../../../src/features/tasks/records/record.ts'
import { readTaskBytes } from '../../../src/features/tasks/records/task-bytes.ts'
import { createSealer, type Sealer } from '../../../src/platform/store/sealing/sealer.ts'
import { LEASE_MS } from '../replica.ts'
import type { SimulatedState } from '../state.ts'
import type { ModelWorld } from '../world.ts'
import type { Job } from './job.ts'

export const TERMINAL = new Set(['completed', 'failed', 'cancelled'])

/** The state, as far as the models see it. */
export interface SeenState {
  readonly records: Pick<SimulatedState['records'], 'get' | 'getDurable' | 'entries'>
  readonly dueTimes: Pick<SimulatedState['dueTimes'], 'get' | 'getDurable'>
}

/** A replica that takes an entry has it for a lease, and reads late what it has taken. In milliseconds. */
const DUE_MARGIN_MS = LEASE_MS + 1000
/** How long an entry may be missing, in milliseconds. */
const MAX_MISSING_MS = LEASE_MS + 2000

export class SeenRecords {
  readonly #world: ModelWorld
  readonly #state: SeenState
  readonly #sealer: Sealer
  /** The ends of records. A use of a record moves its expiry. */
  readonly #ended = new Map<string, { readonly status: string, readonly expiry: { readonly at: number } }>()
  /** The entries that are due too late, and since when. */
  readonly #late = new Map<string, number>()
  /** Records by their bytes, which the store replaces and never changes. */
  readonly #opened = new WeakMap<Buffer, TaskRecord>()
  /** Called with each record that was written, and whether a repetition of the call begins anew with it. */
  onRecord: (entry: string, record: TaskRecord, isAnew: boolean) => void = () => {}

  constructor (world: ModelWorld, state: SeenState, secrets: readonly string[]) {
    this.#world = world
    this.#state = state
    this.#sealer = createSealer(secrets, { now: () => world.now })
  }

  /** The record of the job, if it has not expired. */
  of (job: Job): TaskRecord | undefined {
    const entry = entryOf(job)
    const record = this.#state.records.get(entry)
    return record === undefined || record.expiry.at <= this.#world.now
      ? undefined
      : this.#open(entry, record.bytes)
  }

  /** The record that a failover would not lose. */
  durableOf (job: Job): TaskRecord | undefined { return this.#durable(entryOf(job)) }

  /** The key of the place of limits in which the task counts now. */
  placeOf ({ entry = '', recordedAt = Infinity }: Job): string | undefined {
    const id = entry.slice(entry.indexOf('/'))
    const [place] = [...this.#state.records.entries()].find(([key, { expiry, creation }]) => {
      // The place of a repetition counts until its time limit if its replica was lost before it removed it.
      const isLost = creation?.by.isDead === true && creation.at > recordedAt
      return /^(open-tasks|tasks-of)-/.test(key) && key.endsWith(id) && expiry.at > this.#world.now && !isLost
    }) ?? []
    return place
  }

  /** Called after each write of a record or a due time. */
  check (entry: string): void {
    const stored = this.#state.records.get(entry)
    const record = this.#open(entry, stored?.bytes)
    const dueAt = this.#state.dueTimes.get(entry)?.at
    const { now } = this.#world
    const latest = now + LEASE_MS
    if (record?.isRunning === true && dueAt !== undefined && dueAt > latest) {
      this.#world.fail(`${entry} runs, and is due ${dueAt - latest} ms beyond a lease`)
    }
    const expired = (this.#ended.get(entry)?.expiry.at ?? Infinity) <= now
    if (record !== undefined) this.onRecord(entry, record, expired && !TERMINAL.has(record.status))
    this.#checkDurable(entry)
  }

  /** Checks that an earlier generation cuts no lease. */
  checkSooner (entry: string, soonerMs: number): void {
    const record = this.#open(entry, this.#state.records.get(entry)?.bytes)
    if (record?.isRunning === true) {
      this.#world.fail(`${entry} runs, and an earlier generation has cut its lease by ${soonerMs} ms`)
    }
  }

  #checkDurable (entry: string): void {
    const stored = this.#state.records.getDurable(entry)
    const record = this.#open(entry, stored?.bytes)
    if (stored === undefined || record === undefined) return
    const { status } = record
    const ended = this.#ended.get(entry)
    // A repetition of a call whose record has expired begins anew.
    const isBefore = ended !== undefined && ended.expiry.at > this.#world.now
    if (isBefore && ended.status !== status) {
      this.#world.fail(`${entry} had ended as ${ended.status}, and is ${status}`)
    }
    if (TERMINAL.has(status)) this.#ended.set(entry, { status, expiry: stored.expiry })
    else if (!isBefore) this.#ended.delete(entry)
    // Its first due time may be set again before its client knows of it.
    if (record.generation > 0) this.#checkDue(entry, record)
  }

  /**
   * Checks that a replica looks at a task that a client knows, whichever replica is lost now, and that no
   * other task has its id.
   */
  checkKnown (job: Job, tasks: readonly Job[]): void {
    const { id, name } = job
    const twin = tasks.find((task) => task.id === id && task.name !== name)
    if (twin !== undefined) this.#world.fail(`${name} and ${twin.name} are one task: ${id}`)
    const entry = entryOf(job)
    const record = this.#durable(entry)
    if (record !== undefined) this.#checkDue(entry, record)
  }

  /** Checks that a replica looks at the task in time, whichever replica is lost now. */
  #checkDue (entry: string, record: TaskRecord): void {
    const { now } = this.#world
    const wantedAt = wantedTime(record, now)
    if (wantedAt === undefined) return
    const dueAt = this.#state.dueTimes.getDurable(entry)?.at ?? Infinity
    const lateMs = dueAt - Math.max(now, wantedAt) - DUE_MARGIN_MS
    const since = lateMs > 0 ? this.#late.get(entry) ?? now : Infinity
    if (lateMs > 0) this.#late.set(entry, since)
    else this.#late.delete(entry)
    // A replica that has removed the due time of a record that was created meanwhile sets it again.
    if (lateMs > 0 && (dueAt < Infinity || now > since + MAX_MISSING_MS)) this.#world.fail(`${entry} is ${phaseOf(record)}, and is due ${lateMs} ms too late`)
  }

  #durable (entry: string): TaskRecord | undefined {
    return this.#open(entry, this.#state.records.getDurable(entry)?.bytes)
  }

  #open (entry: string, bytes: Buffer | undefined): TaskRecord | undefined {
    if (bytes === undefined) return undefined
    const before = this.#opened.get(bytes)
    if (before !== undefined) return before
    const opened = this.#sealer.open('task', entry, bytes.toString('latin1'))
    const record = opened && readTaskBytes(opened)
    if (record !== undefined) this.#opened.set(bytes, record)
    return record
  }
}

/** Returns when a replica must look at the task. `undefined`: never. */
function wantedTime (record: TaskRecord, now: number): number | undefined {
  switch (phaseOf(record)) {
    case 'running': case 'undoing': return now
    case 'waiting': case 'asking': return Math.min(record.wakesAt ?? Infinity, endOfRun(record))
    case 'over': return record.undo === 'due' ? Math.min(record.wakesAt ?? now, endOfRun(record)) : undefined
  }
}

/** The entry of its due time, which also names its record. */
function entryOf ({ entry, id, sender }: Job): string {
  return entry ?? `tasks-${ownerOf(sender.principal)}/${String(id)}`
}

/** Whether what the task has done is to be undone. */
export function isWithoutSuccess ({ status, result = '' }: TaskRecord): boolean {
  return status === 'cancelled' || status === 'failed' ||
    (status === 'completed' && result.includes('"isError":true'))
}
