// Room for the results of calls that are large, as a part of the heap. A call whose results were large waits
// for its turn before it begins: all that calls begin at once would be in memory at once. A result that was
// not expected to be large is dropped where there is no room to write it.

import { getHeapStatistics } from 'node:v8'
import { clock, timers, type Timer } from '../../base/time.ts'
import { limitReached } from '../protocol/errors.ts'
import { holderOf, type Holder, type Sender } from './holder.ts'
import { LARGE_BYTES, type WaitingBytes } from './waiting-bytes.ts'

/** A call, by the key of its primitive. */
interface LargeCall { readonly subject?: string }

/** The request of a call. */
interface LargeRequest {
  readonly caller: Sender
  readonly lifetime: CallLifetime
  /** Whether other answers wait for that of the request, and hold the room that it would wait for. */
  readonly outlet: { readonly isAwaited?: boolean }
}

interface CallLifetime {
  /** Calls the listener when the request is stopped. */
  onStop (listener: (reason: Error) => void): void
  /** Calls the listener when the request is over and no handler of it runs any more. */
  onSettled (listener: () => void): void
}

/** A call that has its turn, or a result that is written. */
interface CallRoom {
  readonly size: number
  /** When its turn ends. `Infinity` for a result. */
  until: number
  release (): void
}

interface Waiting {
  readonly holder: Holder | undefined
  readonly since: number
  begin (): void
  refuse (error: Error): void
}

/** How long a call holds room before it has a result, in milliseconds: few handlers fill the memory later. */
const TURN_MS = 1000
/** How long a call waits for its turn, and after which time slow readers give way to it. In milliseconds. */
const [MAX_WAIT_MS, PATIENCE_MS] = [20_000, 10_000]
const CHECK_MS = 250
/** When a call that was refused may come again, in seconds. */
const RETRY_SECONDS = 5
/** The part of the heap beyond which no large call begins beside another one. */
const PART_OF_HEAP = 0.6
/** A result is in memory as text and as JSON. */
const COPIES = 2
/** So many primitives have large results at most: names of a catalog that was replaced must not stay. */
const MAX_SIZES = 1000

export class LargeResults {
  readonly #bytes: WaitingBytes
  /** The size of the results of a primitive that were large lately, by its key. */
  readonly #sizes = new Map<string, number>()
  readonly #begun = new Map<CallLifetime, CallRoom>()
  /** The calls of each holder, oldest first. The holders have their turns one after another. */
  readonly #waiting = new Map<string, Set<Waiting>>()
  #checks: Timer | undefined
  #isPassing = false

  constructor (bytes: WaitingBytes) {
    this.#bytes = bytes
    bytes.onFreed = () => this.#passOn()
  }

  /**
   * Resolves when the call may begin, or returns `undefined` if it may begin now. Rejects with LimitReached
   * after a long wait.
   */
  begin ({ subject }: LargeCall, { caller, lifetime, outlet }: LargeRequest): Promise<void> | undefined {
    const size = this.#sizes.size === 0 || subject === undefined ? undefined : this.#sizes.get(subject)
    if (size === undefined) return undefined
    const holder = holderOf(caller)
    const count = () => this.#count(lifetime, holder, size, clock.monotonic() + TURN_MS)
    if (!this.#waiting.has(nameOf(holder)) && this.#mayBegin(holder, 0)) {
      count()
      return undefined
    }
    return outlet.isAwaited === true
      ? Promise.reject(this.#refusal(holder))
      : this.#wait(holder, lifetime, count)
  }

  /**
   * Counts a result, whose size was noted, until its request is over. Returns `false` if it must be dropped.
   * @param size of its texts, in characters.
   */
  admit ({ subject }: LargeCall, { caller, lifetime }: LargeRequest, size: number): boolean {
    const counted = this.#begun.get(lifetime)
    if (counted !== undefined && counted.size >= size) {
      counted.until = Infinity
      return true
    }
    this.#end(lifetime)
    const holder = holderOf(caller)
    if (!this.#bytes.hasRoom(holder)) return false
    this.#count(lifetime, holder, Math.max(size, this.#sizes.get(subject ?? '') ?? 0), Infinity)
    return true
  }

  /** Learns from the size of a result, in characters: the next calls of a burst wait from then on. */
  note ({ subject }: LargeCall, size: number): void {
    if (subject === undefined) return
    const before = this.#sizes.get(subject)
    if (size < LARGE_BYTES && before === undefined) return
    const next = Math.max(size, ((before ?? 0) * 3 + size) / 4)
    this.#sizes.delete(subject)
    if (next < LARGE_BYTES) return
    if (this.#sizes.size >= MAX_SIZES) this.#sizes.clear()
    this.#sizes.set(subject, next)
  }

  async #wait (holder: Holder | undefined, lifetime: CallLifetime, count: () => void): Promise<void> {
    const name = nameOf(holder)
    const queue = this.#waiting.get(name) ?? new Set()
    this.#waiting.set(name, queue)
    this.#keepChecking()
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        if (queue.delete(waiting) && queue.size === 0) this.#waiting.delete(name)
      }
      const waiting: Waiting = {
        holder,
        since: clock.monotonic(),
        begin () {
          leave()
          count()
          resolve()
        },
        refuse (error) {
          leave()
          reject(error)
        }
      }
      queue.add(waiting)
      lifetime.onStop(waiting.refuse)
    })
  }

  #mayBegin (holder: Holder | undefined, waitedMs: number): boolean {
    return this.#bytes.hasRoom(holder, waitedMs > PATIENCE_MS) && (this.#begun.size === 0 || !isHeapFull())
  }

  #count (lifetime: CallLifetime, holder: Holder | undefined, size: number, until: number): void {
    this.#begun.set(lifetime, { size, until, release: this.#bytes.add(holder, COPIES * size) })
    this.#keepChecking()
    lifetime.onSettled(() => this.#end(lifetime))
  }

  #end (lifetime: CallLifetime): void {
    const counted = this.#begun.get(lifetime)
    if (counted === undefined) return
    this.#begun.delete(lifetime)
    counted.release()
  }

  /**
   * Begins one call in a turn of the event loop, so that small requests are served in between. Not in this
   * turn: the answer of a result that is over takes its room.
   */
  #passOn (): void {
    if (this.#isPassing || this.#waiting.size === 0) return
    this.#isPassing = true
    setImmediate(() => {
      this.#isPassing = false
      if (this.#beginFirst()) this.#passOn()
    })
  }

  /** Returns `false` if no call that waits may begin. */
  #beginFirst (): boolean {
    for (const [name, queue] of this.#waiting) {
      const [first] = queue
      if (first === undefined || !this.#mayBegin(first.holder, clock.monotonic() - first.since)) continue
      // The other holders are next.
      this.#waiting.delete(name)
      if (queue.size > 1) this.#waiting.set(name, queue)
      first.begin()
      return true
    }
    return false
  }

  /** Checks from now on, until no call waits or has room. */
  #keepChecking (): void {
    this.#checks ??= timers.setInterval(() => this.#check(), CHECK_MS).unref()
  }

  #check (): void {
    const now = clock.monotonic()
    for (const [lifetime, { until }] of this.#begun) if (now >= until) this.#end(lifetime)
    this.#passOn()
    for (const queue of this.#waiting.values()) {
      for (const { since, holder, refuse } of queue) {
        if (now - since < MAX_WAIT_MS) break
        refuse(this.#refusal(holder))
      }
    }
    if (this.#begun.size > 0 || this.#waiting.size > 0) return
    timers.clear(this.#checks)
    this.#checks = undefined
  }

  #refusal (holder: Holder | undefined): Error {
    return limitReached(this.#bytes.describe(holder), 503, RETRY_SECONDS)
  }
}

/** The senders whom no share limits wait together. */
function nameOf (holder: Holder | undefined): string { return holder?.name ?? '' }

function isHeapFull (): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  return used > limit * PART_OF_HEAP
}
