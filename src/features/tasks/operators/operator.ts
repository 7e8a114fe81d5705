// What operators see of the tasks of all owners, and what they may change. No argument, answer or result is
// in it, unless the definition of the tool lets the audit log keep arguments. A recording may have values.

import { clock } from '../../../base/time.ts'
import { yieldToRequests } from '../../../base/turns.ts'
import type { DueEntry } from '../../../platform/store/records/due-times.ts'
import { keyFrom } from '../records/records.ts'
import { toRecording, type RecordingOptions } from '../journal/recording.ts'
import type { TaskReports } from '../runs/reports.ts'
import {
  matches, refusalOf, toFacts, toIso, type TaskFacts, type TaskFilter, type UnreadTask
} from './task-facts.ts'
import type { TransitionDependencies, Transitions } from '../machine/transitions.ts'

export interface TaskOperatorDependencies extends Pick<
  TransitionDependencies, 'records' | 'dueTimes' | 'storeClock' | 'leaseMs'
> {
  readonly transitions: Transitions
  readonly reports: Pick<TaskReports, 'leftReason'>
  /** The arguments that the audit log may keep. `undefined` if it may keep none. */
  auditedArguments (tool: string, args: unknown): unknown
}

export interface TaskListing {
  readonly tasks: ReadonlyArray<TaskFacts | UnreadTask>
  /** Continues the list. Absent at its end. A listing that took long may have no task and a cursor. */
  readonly nextCursor?: string | undefined
}

/** What became of a change. `refused` has a problem; `unknown` has no task. */
export interface TaskChange {
  readonly outcome: 'done' | 'refused' | 'unknown'
  readonly problem?: string
  readonly task?: TaskFacts | UnreadTask
}

/** Tasks that are due and that no replica runs. */
export interface StuckTasks {
  /** No replica has looked for two leases. */
  readonly overdue: number
  /** Every replica that looked has left the task, for two leases. */
  readonly left: number
}

/** An entry that is due soon. Times are monotonic. */
interface SoonDue {
  readonly generation: number
  readonly since: number
  /** A replica that looks at an entry holds it for a moment: no count sees it then. */
  readonly seenAt: number
  readonly isOverdue: boolean
}

/** How many entries one read of the table takes while records are read too. */
const PAGE = 50
/** The same if only their names are read. */
const NAMES_PAGE = 1000
/** How long one listing, or the search for an id, may take, in milliseconds. A cursor continues a listing. */
const LIST_MS = 1000
const FIND_MS = 10_000
/** How many entries the count of stuck tasks takes. The first ones to be due come first. */
const MAX_STUCK = 1000

export class TaskOperator {
  readonly #dependencies: TaskOperatorDependencies
  /** What was due soon at the last counts. A write begins it anew. */
  #soon: ReadonlyMap<string, SoonDue> = new Map()

  constructor (dependencies: TaskOperatorDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Lists tasks, ended ones included. Rejects with a RangeError for a cursor of no listing.
   * @param limit about how many.
   */
  async list (filter: TaskFilter, cursor: string | undefined, limit: number): Promise<TaskListing> {
    const endsAt = clock.monotonic() + LIST_MS
    const tasks: Array<TaskFacts | UnreadTask> = []
    let nextCursor = cursor
    do {
      const page = await this.#dependencies.dueTimes.list(nextCursor, Math.min(limit, PAGE))
      for (const entry of page.entries) {
        const task = await this.#read(entry)
        if (task !== undefined && matches(task, filter)) tasks.push(task)
        // A record may have a megabyte.
        await yieldToRequests()
      }
      nextCursor = page.next
    } while (nextCursor !== undefined && tasks.length < limit && clock.monotonic() < endsAt)
    return { tasks, nextCursor }
  }

  /** Resolves to `undefined` for an unknown task. */
  async show (id: string): Promise<TaskFacts | UnreadTask | undefined> {
    const entry = await this.#find(id)
    return entry && await this.#read(entry, true)
  }

  /** Resolves to the recording of the task. It has arguments, answers and results if the options say so. */
  async record (id: string, options: RecordingOptions): Promise<TaskChange & { recording?: object }> {
    const entry = await this.#find(id)
    const record = entry && await this.#dependencies.records.look(keyFrom(entry.entry))
    const task = entry && await this.#read(entry)
    if (record === undefined || task === undefined) return { outcome: 'unknown' }
    if (typeof record === 'string') return { outcome: 'refused', problem: refusalOf(task), task }
    return { outcome: 'done', task, recording: toRecording(record, options) }
  }

  /** Cancels the task, as its owner can. */
  async cancel (id: string): Promise<TaskChange> {
    return await this.#change(id, 'cancelled')
  }

  /** Lets a task that waits after losses, for a limit or for a replica run now. */
  async retry (id: string): Promise<TaskChange> {
    return await this.#change(id, 'retried')
  }

  /** Counts tasks that are stuck, up to a limit. Each count compares what is due with the count before. */
  async countStuck (): Promise<StuckTasks> {
    const { dueTimes, leaseMs } = this.#dependencies
    // The entry of a task that runs is due later: its lease is renewed when a third of it has passed.
    const entries = await dueTimes.peek(MAX_STUCK, leaseMs / 2)
    const now = clock.monotonic()
    const soon = new Map([...this.#soon].filter(([, { seenAt }]) => now - seenAt < leaseMs))
    for (const { entry, inMs, generation } of entries) {
      const before = soon.get(entry)
      const since = before?.generation === generation ? before.since : now + Math.max(0, inMs)
      soon.set(entry, { generation, since, seenAt: now, isOverdue: inMs < -2 * leaseMs })
    }
    this.#soon = soon
    const left = [...soon.values()].filter(({ since, isOverdue }) => !isOverdue && now - since >= 2 * leaseMs)
    const overdue = entries.filter(({ entry }) => soon.get(entry)?.isOverdue)
    return { overdue: overdue.length, left: left.length }
  }

  async #change (id: string, type: 'cancelled' | 'retried'): Promise<TaskChange> {
    const { records, transitions } = this.#dependencies
    const entry = await this.#find(id)
    if (entry === undefined) return { outcome: 'unknown' }
    const key = keyFrom(entry.entry)
    const before = await records.look(key)
    const applied = typeof before === 'string' ? undefined : await transitions.apply(key, { type })
    const task = await this.#read(entry)
    if (task === undefined) return { outcome: 'unknown' }
    if (applied?.transition !== undefined) return { outcome: 'done', task }
    return { outcome: 'refused', problem: refusalOf(task), task }
  }

  /** Finds the entry of a task: only its name has the owner. Rejects if there are too many. */
  async #find (id: string): Promise<DueEntry | undefined> {
    const endsAt = clock.monotonic() + FIND_MS
    let from: string | undefined
    do {
      const { entries, next } = await this.#dependencies.dueTimes.list(from, NAMES_PAGE)
      const match = entries.find(({ entry }) => keyFrom(entry).id === id)
      if (match !== undefined) return match
      if (clock.monotonic() >= endsAt) throw new Error('there are too many tasks to find this one')
      from = next
      await yieldToRequests()
    } while (from !== undefined)
    return undefined
  }

  /** Resolves to `undefined` if the record does not exist any more, or not yet. */
  async #read ({ entry, inMs }: DueEntry, isWhole = false): Promise<TaskFacts | UnreadTask | undefined> {
    const { records, storeClock, leaseMs, reports, auditedArguments } = this.#dependencies
    const key = keyFrom(entry)
    const record = await records.look(key)
    if (record === undefined) return undefined
    if (typeof record === 'string') return { taskId: key.id, left: record }
    const now = storeClock.now()
    return {
      ...toFacts(key, record, now),
      // A task that is due later runs on another replica by now, or has ended.
      left: inMs < leaseMs / 2 ? reports.leftReason(entry) : undefined,
      dueAt: toIso(now + inMs),
      isOverdue: inMs < -2 * leaseMs,
      ...(isWhole && { arguments: auditedArguments(record.tool, record.args) })
    }
  }
}
