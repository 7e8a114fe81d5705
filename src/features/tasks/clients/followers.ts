// Tells streams the status of the tasks that they follow.

import { LRUCache } from 'lru-cache'
import type { Principal } from '../../../platform/access/principal.ts'
import { createRotation } from '../../../base/rotation.ts'
import { timers } from '../../../base/time.ts'
import { holderOf } from '../../../platform/limits/holder.ts'
import { Limit } from '../../../platform/limits/limits.ts'
import { Used } from '../../../platform/limits/used.ts'
import { TaskNotReadable } from '../../../platform/protocol/errors.ts'
import type { TaskFollowers, TaskStream } from '../../../request/pipeline/seams.ts'
import type { TaskAccess } from './access.ts'
import type { TaskOrigin } from '../records/record.ts'
import { toDetailedTask } from '../records/task-json.ts'
import type { TaskKey, TaskRecords } from '../records/records.ts'
import type { TaskWatches } from '../runs/watches.ts'

/** The pause before a failed read is repeated, in milliseconds. */
const RETRY_MS = 1000
/**
 * How many records are read at once. A record may have a megabyte, which takes 2 ms of CPU to open, and the
 * reads that wait for a store may end in one turn.
 */
const MAX_READS = 4
/** The tasks whose tools are remembered. */
const MAX_ORIGINS = 10_000

interface FollowersDependencies {
  readonly records: TaskRecords
  readonly access: Pick<TaskAccess, 'isVisible' | 'mayTell'>
  readonly watches: TaskWatches
  /** The most tasks that the streams of this replica follow. */
  readonly maxFollowed?: number | undefined
  /** Milliseconds since the epoch, by the clock of the store. */
  now (): number
}

/** Reads a task for one caller. Resolves to `undefined` if the caller may not see it now. */
type ReadMembers = (key: TaskKey) => Promise<string | undefined>

export function createTaskFollowers (
  { records, access, watches, maxFollowed, now }: FollowersDependencies
): TaskFollowers {
  const followed = new Used(new Limit('followedTasks', maxFollowed))
  const reads = createRotation(MAX_READS)
  // The name of a task is for one tool, so a stream that is opened again need not open its records.
  // `max` would allocate the place of each task now.
  const origins = new LRUCache<string, Pick<TaskOrigin, 'tool' | 'toolScopes'>>({
    maxSize: MAX_ORIGINS, sizeCalculation: () => 1
  })

  /** Looks the tool up each time: the catalog, and what its scopes hide, may have changed. */
  async function readMembers (principal: Principal, key: TaskKey): Promise<string | undefined> {
    for (;;) {
      // A replica of the newer release tells what it can read. This one never can.
      const stored = await records.read(key).catch((error: unknown) => {
        if (!(error instanceof TaskNotReadable)) throw error
      })
      if (!stored || !isVisible(principal, stored.record)) return undefined
      if (await access.mayTell(key, stored)) return toDetailedTask(key.id, stored.record, now())
    }
  }

  function isVisible (...[principal, record]: Parameters<TaskAccess['isVisible']>): boolean {
    try {
      return access.isVisible(principal, record)
    } catch {
      // The caller lacks a scope.
      return false
    }
  }

  async function findOrigin (key: TaskKey) {
    const origin = origins.get(key.entry)
    if (origin !== undefined) return await records.exists(key) ? origin : undefined
    const stored = await records.read(key)
    if (stored === undefined) return undefined
    const { tool, toolScopes } = stored.record
    origins.set(key.entry, { tool, toolScopes })
    return { tool, toolScopes }
  }

  return {
    async findOwn (sender, ids, lifetime) {
      const { principal } = sender
      const holder = holderOf(sender)
      const refusal = followed.findRefusal(holder)
      if (refusal !== undefined) throw refusal
      lifetime.onEnd(followed.add(holder, ids.length))
      const ownIds: string[] = []
      for (const id of new Set(ids)) {
        const key = records.keyOf(principal, id)
        const origin = key && await reads.run(nameOf(holder), async () => {
          lifetime.throwIfStopped()
          return await findOrigin(key)
        })
        if (origin !== undefined && isVisible(principal, origin)) ownIds.push(id)
      }
      return ownIds
    },
    follow (sender, ids, stream) {
      const { principal } = sender
      const name = nameOf(holderOf(sender))
      const keys = ids.flatMap((id) => records.keyOf(principal, id) ?? [])
      const follower = new TaskFollower(keys, stream, async (key) => (
        await reads.run(name, async () => await readMembers(principal, key))
      ))
      const ends = keys.map(({ entry }) => watches.add(entry, { note: () => follower.note(entry) }))
      stream.sink.onClose(() => { for (const end of ends) end() })
      // A status may have changed since the client asked for it.
      for (const { entry } of keys) follower.note(entry)
    }
  }
}

/** Callers on this machine have no name. */
function nameOf (holder: ReturnType<typeof holderOf>): string {
  return holder?.name ?? ''
}

/** One stream. A task is pending at most once, so a client that does not read costs no memory. */
class TaskFollower {
  readonly #keys: ReadonlyMap<string, TaskKey>
  readonly #stream: TaskStream
  readonly #readMembers: ReadMembers
  readonly #pending = new Set<string>()
  #isFlushing = false
  #isClosed = false

  constructor (keys: readonly TaskKey[], stream: TaskStream, readMembers: ReadMembers) {
    this.#keys = new Map(keys.map((key) => [key.entry, key]))
    this.#stream = stream
    this.#readMembers = readMembers
    stream.sink.onClose(() => { this.#isClosed = true })
    stream.sink.onDrain(() => { this.#flush() })
  }

  note (entry: string): void {
    this.#pending.add(entry)
    this.#flush()
  }

  get #maySend (): boolean { return !this.#isClosed && !this.#stream.sink.isBlocked }

  #flush (): void {
    if (this.#isFlushing || this.#pending.size === 0 || !this.#maySend) return
    this.#isFlushing = true
    this.#sendPending().finally(() => {
      this.#isFlushing = false
      // Sends what was noted after the loop had ended.
      this.#flush()
    })
  }

  async #sendPending (): Promise<void> {
    for (const entry of this.#pending) {
      if (!this.#maySend) return
      this.#pending.delete(entry)
      const key = this.#keys.get(entry)
      try {
        const members = key && await this.#readMembers(key)
        if (members !== undefined) this.#stream.sink.send(this.#stream.toMessage(members))
      } catch {
        this.#pending.add(entry)
        await timers.pause(RETRY_MS, { ref: false })
      }
    }
  }
}
