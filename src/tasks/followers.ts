// Tells streams the status of the tasks that they follow.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Principal } from '../access/principal.ts'
import { timers } from '../base/time.ts'
import { TaskNotReadable } from '../protocol/errors.ts'
import type { TaskFollowers, TaskStream } from '../request/pipeline/seams.ts'
import type { TaskAccess } from './access.ts'
import { toDetailedTask } from './record.ts'
import type { TaskKey, TaskRecords } from './records.ts'
import type { TaskWatches } from './watches.ts'

/** The pause before a failed read is repeated, in milliseconds. */
const RETRY_MS = 1000

interface FollowersDependencies {
  readonly records: TaskRecords
  readonly access: Pick<TaskAccess, 'isVisible' | 'mayTell'>
  readonly watches: TaskWatches
  /** Milliseconds since the epoch, by the clock of the store. */
  now (): number
}

/** Reads a task for one caller. Resolves to `undefined` if the caller may not see it now. */
type ReadMembers = (key: TaskKey) => Promise<string | undefined>

export function createTaskFollowers (
  { records, access, watches, now }: FollowersDependencies
): TaskFollowers {
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

  return {
    async findOwn (principal, ids) {
      const ownIds: string[] = []
      // A record may have a megabyte: others get their turn between two of them.
      for (const id of new Set(ids)) {
        const key = records.keyOf(principal, id)
        const stored = key && await records.read(key)
        if (stored !== undefined && isVisible(principal, stored.record)) ownIds.push(id)
        if (key !== undefined) await nextTurn()
      }
      return ownIds
    },
    follow (principal, ids, stream) {
      const keys = ids.flatMap((id) => records.keyOf(principal, id) ?? [])
      const follower = new TaskFollower(keys, stream, async (key) => await readMembers(principal, key))
      const ends = keys.map(({ entry }) => watches.add(entry, { note: () => follower.note(entry) }))
      stream.sink.onClose(() => { for (const end of ends) end() })
      // A status may have changed since the client asked for it.
      for (const { entry } of keys) follower.note(entry)
    }
  }
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
        await nextTurn()
      } catch {
        this.#pending.add(entry)
        await timers.pause(RETRY_MS, { ref: false })
      }
    }
  }
}
