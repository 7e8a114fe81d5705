// The model of ordinary calls: handles with their entries, and idempotent calls with their answers.

import type { Cluster, Sender } from '../cluster.ts'
import { MAX_HANDLES } from '../replica.ts'
import type { SeenState } from './records.ts'
import type { ModelWorld, Process } from '../world.ts'

/** A handle that a client has. */
export interface Ledger {
  readonly id: string
  readonly sender: Sender
  /** The entries that were acknowledged. */
  readonly entries: Set<string>
  /** Those that may be there. */
  readonly attempts: Set<string>
  /** Whether its deletion was begun, or acknowledged. */
  drop?: 'begun' | 'acknowledged'
}

/** The share of one anonymous network. */
const SHARE = Math.ceil(MAX_HANDLES / 10)

export class Ledgers {
  readonly #world: ModelWorld
  readonly all: Ledger[] = []
  /** The handles of each network that were acknowledged, and whose deletion has not begun. */
  readonly #used = new Map<string, Set<string>>()
  #entries = 0

  constructor (world: ModelWorld) {
    this.#world = world
  }

  add (id: string, sender: Sender): void {
    this.all.push({ id, sender, entries: new Set(), attempts: new Set() })
    this.count(sender, id)
  }

  /** Counts a handle for the share of its network. */
  count ({ address }: Sender, id: string): void {
    if (address === undefined) return
    const used = (this.#used.get(address) ?? new Set()).add(id)
    this.#used.set(address, used)
    if (used.size > SHARE) this.#world.fail(`${address} has ${used.size} handles, and its share is ${SHARE}`)
  }

  nextEntry (ledger: Ledger): string {
    const entry = `entry-${this.#entries++}`
    ledger.attempts.add(entry)
    return entry
  }

  /** Call it before a read is sent. Returns the check of its result. */
  expect (ledger: Ledger): (entries: readonly string[] | undefined) => void {
    const acknowledged = [...ledger.entries]
    const { drop } = ledger
    return (entries) => {
      if (entries === undefined) {
        if (ledger.drop === undefined) this.#world.fail(`${ledger.id} is gone`)
        return
      }
      if (drop === 'acknowledged') this.#world.fail(`${ledger.id} was deleted, and can be read`)
      const lost = acknowledged.filter((entry) => !entries.includes(entry))
      if (lost.length > 0) this.#world.fail(`${ledger.id} has lost ${lost.join()}: an acknowledged update`)
      const strange = entries.filter((entry, index) => (
        !ledger.attempts.has(entry) || entries.indexOf(entry) !== index
      ))
      if (strange.length > 0) this.#world.fail(`${ledger.id} has ${strange.join()} once more, or from nobody`)
    }
  }

  /** Notes that the handle is deleted now, or later: nobody knows when its place is free. */
  beginDrop (ledger: Ledger): void {
    ledger.drop ??= 'begun'
    const { address } = ledger.sender
    if (address !== undefined) this.#used.get(address)?.delete(ledger.id)
  }
}

interface OrderRun {
  readonly value: string
  readonly at: number
  readonly process: Process
  endedAt?: number
  hasFailed?: boolean
}

/** The lease of an idempotent call is 15 s. A run that is not lost keeps it. In milliseconds. */
const CERTAIN_MS = 10_000
/** A call that a lost lease has let begin may begin after the answer of the first run, in milliseconds. */
const MAX_BEGIN_MS = 6000
/** How long an answer is kept, in milliseconds. */
const KEEP_MS = 60_000

export class Orders {
  readonly #world: ModelWorld
  readonly #cluster: Pick<Cluster, 'isUndisturbed'>
  readonly #runs = new Map<string, OrderRun[]>()
  /** The first answer of each call, and the answers of calls without a key. */
  readonly #answers = new Map<string, string>()
  /** When a client got the first answer of each call. */
  readonly #answeredAt = new Map<string, number>()
  readonly #records: SeenState['records'] | undefined
  #count = 0

  /** @param records those of the state. Absent if nobody sees them. */
  constructor (world: ModelWorld, cluster: Pick<Cluster, 'isUndisturbed'>, records?: SeenState['records']) {
    this.#world = world
    this.#cluster = cluster
    this.#records = records
  }

  /** A call without a key of its client is never a repetition. */
  begin (key: string, caller: string): string {
    const call = `${key} of ${caller}`
    const runs = this.#runs.get(call) ?? []
    this.#runs.set(call, runs)
    const value = `${call} ${++this.#count} #${runs.length + 1}`
    this.#world.note(`orders ${value}`)
    const isKept = !key.startsWith('free')
    for (const run of isKept ? runs : []) {
      const { process, at, hasFailed = false } = run
      const isUndisturbed = this.#cluster.isUndisturbed(process, at)
      const answeredAt = this.#answers.get(call) === run.value ? this.#answeredAt.get(call) : undefined
      const isKnown = answeredAt !== undefined &&
        (isUndisturbed || this.#world.now >= answeredAt + MAX_BEGIN_MS)
      if (isKnown && this.#world.now < (run.endedAt ?? 0) + KEEP_MS) {
        this.#world.fail(`${call} runs again after its answer`)
      }
      const isCertain = this.#world.now - at < CERTAIN_MS && isUndisturbed
      // Its time limit may have ended it without an answer, and it ran on.
      const hasLapsed = key.startsWith('hasty') && run.endedAt !== undefined
      if (!hasFailed && !hasLapsed && isCertain) {
        this.#world.fail(`${call} runs twice`)
      }
    }
    runs.push({ value, at: this.#world.now, process: this.#world.current })
    return value
  }

  end (value: string, hasFailed: boolean): void {
    const run = this.#find(value)
    if (run !== undefined) Object.assign(run, { endedAt: this.#world.now, hasFailed })
  }

  /** Checks an answer that a client got. */
  see (key: string, caller: string, value: string): void {
    const call = `${key} of ${caller}`
    if (!key.startsWith('free')) this.#checkDurable(value)
    const first = this.#answers.get(call)
    if (!value.startsWith(call)) this.#world.fail(`${call} got the answer of another call: ${value}`)
    if (key.startsWith('free')) {
      if (this.#answers.has(value)) this.#world.fail(`${value} was the answer of two calls`)
      this.#answers.set(value, value)
    } else if (first === undefined) {
      this.#answers.set(call, value)
      this.#answeredAt.set(call, this.#world.now)
    } else if (first !== value) {
      const { endedAt = 0 } = this.#find(first) ?? {}
      // The first answer may be forgotten by then.
      if ((this.#find(value)?.at ?? 0) >= endedAt + KEEP_MS) this.#answers.set(call, value)
      else this.#world.fail(`${call} was answered ${first}, and then ${value}`)
    }
  }

  /** Checks that a failover would not lose an answer that was told. */
  #checkDurable (value: string): void {
    const { endedAt = 0 } = this.#find(value) ?? {}
    if (this.#records === undefined || this.#world.now > endedAt + KEEP_MS - 1000) return
    const records = this.#records
    const isDurable = [...records.entries()].some(([name]) => (
      name.startsWith('answers-') && records.getDurable(name)?.bytes.includes(`"${value}"`) === true
    ))
    if (!isDurable) this.#world.fail(`${value} was told, and is not durable`)
  }

  #find (value: string): OrderRun | undefined {
    return [...this.#runs.values()].flat().find((run) => run.value === value)
  }
}
