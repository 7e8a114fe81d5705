// The model of writes: what each new record of a task may have, compared with the record before it.

import type { TaskRecord } from '../../../src/features/tasks/records/record.ts'
import type { Cluster } from '../cluster.ts'
import { LEASE_MS } from '../replica.ts'
import type { ModelWorld } from '../world.ts'
import type { Job } from './job.ts'

/** A replica knows the time of the store this well, in milliseconds. */
const CLOCK_MARGIN_MS = 2500

export type SeenOutages = Pick<Cluster, 'outageEnd'>

export class Writes {
  readonly #world: ModelWorld
  readonly #cluster: SeenOutages
  readonly #last = new Map<Job, TaskRecord>()

  constructor (world: ModelWorld, cluster: SeenOutages) {
    this.#world = world
    this.#cluster = cluster
  }

  /** Forgets the records: a failover has lost some of them. */
  forget (): void { this.#last.clear() }

  check (job: Job, record: TaskRecord): void {
    const before = this.#last.get(job)
    this.#last.set(job, record)
    this.#checkRights(job, record)
    if (before === undefined || before.generation > record.generation) return
    const [was, is] = [placeOf(before.statusMessage), placeOf(record.statusMessage)]
    if (was !== undefined && is !== undefined && is < was) {
      this.#world.fail(`the record of ${job.name} was at ${was}, and is at ${is}`)
    }
    if (before.error === undefined && /changed/.test(record.error ?? '')) this.#checkHandover(job, before)
  }

  /** Checks that a task acts with the rights of the one whose answer it has just got. */
  #checkRights ({ name, sent }: Job, { answers, principal }: TaskRecord): void {
    const texts = Object.values(answers)
    for (const answer of sent) {
      const { by, scopes } = answer
      if (answer.isWritten === true || !texts.some((text) => text.includes(`"${by}"`))) continue
      answer.isWritten = true
      const present = [...principal.scopes].sort().join(' ')
      if (by === 'decline' || scopes === undefined || present === scopes) continue
      this.#world.fail(`${name} has got ${by} of the scopes ${scopes}, and acts with ${present}`)
    }
  }

  /** Checks that replicas with the code of the task could take it before it failed. */
  #checkHandover ({ name }: Job, { isRunning, wakesAt = 0 }: TaskRecord): void {
    const { now } = this.#world
    const what = `${name} has failed as changed`
    const dueMs = now - wakesAt
    if (!isRunning && dueMs < 2 * LEASE_MS - CLOCK_MARGIN_MS) this.#world.fail(`${what} after ${dueMs} ms`)
    const backMs = now - this.#cluster.outageEnd
    if (backMs < LEASE_MS) this.#world.fail(`${what} ${backMs} ms after an outage of the store`)
  }
}

/** The place of a handler in its program. */
function placeOf (message = ''): number | undefined {
  const [, place] = /^progress-(\d+)$/.exec(message) ?? []
  return place === undefined ? undefined : Number(place)
}
