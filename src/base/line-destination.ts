// Where the lines of a log go: a file or a descriptor. Lines are written together, so that a request does not
// wait for its line. Lines that cannot be written wait, and are tried again: a disk has space again, a pipe
// gets another reader. The end of the process never waits for them.

import { close, closeSync, constants, openSync, write, writeSync } from 'node:fs'
import { toWellFormedJson } from './text.ts'
import { codeOf } from './words.ts'
import { type Timer, timers } from './time.ts'

/** Lines are written after this time, in milliseconds, if they are not written before. */
const FLUSH_MS = 100
/**
 * Lines are written at once when this many characters wait. A write wakes another thread: that costs as much
 * as making about ten lines.
 */
const WRITE_LENGTH = 64_000
/** The most that one write may have, in characters. */
const MAX_WRITE_LENGTH = 65_536
/** What may wait while lines cannot be written fast enough, in characters. Lines after that are dropped. */
const MAX_WAITING_LENGTH = 16 * 1024 * 1024
/** A full pipe is tried again this often when the process exits, each time after a pause. */
const EXIT_TRIES = 50
const EXIT_PAUSE_MS = 10
/** How long a flush waits for the reader of a pipe, in milliseconds. */
const FLUSH_LIMIT_MS = 500
/** A pipe without a reader is an error, and a full one is tried again: neither blocks a thread. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK

interface LineDestinationOptions {
  /** A path, or the number of a file descriptor. */
  readonly dest: string | number
  /** The mode of a file that is created. */
  readonly mode?: number
  /** In characters. */
  readonly maxWaitingLength?: number
  /** Called with each error of a write. Not for a full pipe. */
  onError? (error: unknown): void
  /**
   * Called when lines are written again after some were dropped, when lines wait at the close, and when a
   * write ends after the close and has left lines.
   */
  onDropped (lines: number): void
}

interface Flush {
  /** The count of characters that must be written. */
  readonly until: number
  done (error?: Error): void
}

const destinations = new Set<LineDestination>()

/** Writes the lines of all destinations that wait. For the end of the process. */
export function flushAllSync (): void {
  for (const destination of destinations) destination.flushSync()
}

export class LineDestination {
  readonly #options: LineDestinationOptions
  #fd: number
  /** Lines not yet handed to a write, joined to chunks of MAX_WRITE_LENGTH at most. */
  #texts: string[] = []
  #waitingLength = 0
  /** What a write has left over, after an error or by a full pipe. It comes before the texts. */
  #rest: Buffer | undefined
  #isWriting = false
  #hasFailed = false
  #dropped = 0
  #accepted = 0
  #flushes: Flush[] = []
  #timer: Timer | undefined
  /** Set if the file was opened anew during a write. */
  #replacedFd: number | undefined
  #isClosed = false

  /** Throws if the file cannot be opened. */
  constructor (options: LineDestinationOptions) {
    this.#options = options
    this.#fd = this.#open()
    destinations.add(this)
  }

  /** @param written one or several lines, each with its end. */
  write (written: string): void {
    if (this.#isClosed) return
    const line = toWellFormedJson(written)
    const { maxWaitingLength = MAX_WAITING_LENGTH } = this.#options
    if (this.#waitingLength + line.length > maxWaitingLength) {
      this.#dropped += countLines(line)
      return
    }
    const last = this.#texts.length - 1
    const text = this.#texts[last]
    if (text === undefined || text.length + line.length > MAX_WRITE_LENGTH) this.#texts.push(line)
    else this.#texts[last] = text + line
    this.#waitingLength += line.length
    this.#accepted += line.length
    if (!this.#isWriting && !this.#isClosed) this.#continue()
  }

  /** Calls back when every line so far is written, when a write has failed, and after half a second. */
  flush (done: (error?: Error) => void): void {
    const flush: Flush = {
      until: this.#accepted,
      done (error) {
        timers.clear(deadline)
        done(error)
      }
    }
    const deadline = timers.setTimeout(() => {
      this.#flushes = this.#flushes.filter((waiter) => waiter !== flush)
      done()
    }, FLUSH_LIMIT_MS)
    this.#flushes.push(flush)
    if (this.#isWriting) return
    if (this.#isIdle()) this.#endFlushes()
    else this.#writeNext()
  }

  /** Writes what waits. Gives up at an error, and after half a second of a full pipe. */
  flushSync (): void {
    let left = EXIT_TRIES
    while (left > 0) {
      const bytes = this.#take()
      if (bytes === undefined) return
      this.#rest = bytes
      try {
        const remainder = bytes.subarray(writeSync(this.#fd, bytes))
        this.#rest = remainder.length > 0 ? remainder : undefined
      } catch (error) {
        if (!isFull(error)) return
        left--
        pauseThread(EXIT_PAUSE_MS)
      }
    }
  }

  /** Opens the file anew, so that it can be moved away. If it cannot be opened, the old one stays. */
  reopen (): void {
    if (typeof this.#options.dest === 'number') return
    const earlier = this.#fd
    try {
      this.#fd = this.#open()
    } catch (error) {
      this.#options.onError?.(error)
      return
    }
    if (this.#isWriting && this.#replacedFd === undefined) this.#replacedFd = earlier
    else close(earlier, () => {})
  }

  /** Writes what can be written within half a second, and closes the file. Resolves in any case. */
  async close (): Promise<void> {
    if (!destinations.delete(this)) return
    await new Promise<void>((resolve) => { this.flush(() => resolve()) })
    timers.clear(this.#timer)
    this.#isClosed = true
    this.#reportLost(this.#dropped + countLines([this.#rest ?? '', ...this.#texts].join('')))
    if (typeof this.#options.dest === 'number') return
    if (this.#isWriting && this.#replacedFd === undefined) this.#replacedFd = this.#fd
    else closeSync(this.#fd)
  }

  #reportLost (lines: number): void {
    if (lines > 0) this.#options.onDropped(lines)
  }

  #open (): number {
    const { dest, mode } = this.#options
    return typeof dest === 'number' ? dest : openSync(dest, APPEND, mode)
  }

  #isIdle (): boolean {
    return this.#rest === undefined && this.#texts.length === 0
  }

  /** Writes at once if that is worth a write. After an error only the timer tries again. */
  #continue (): void {
    if (this.#waitingLength >= WRITE_LENGTH && !this.#hasFailed) this.#writeNext()
    else if (!this.#isIdle()) this.#timer ??= timers.setTimeout(() => this.#onTimer(), FLUSH_MS).unref()
  }

  #onTimer (): void {
    this.#timer = undefined
    if (!this.#isWriting) this.#writeNext()
  }

  #take (): Buffer | undefined {
    const remainder = this.#rest
    this.#rest = undefined
    if (remainder !== undefined) return remainder
    const text = this.#texts.shift()
    if (text === undefined) return undefined
    this.#waitingLength -= text.length
    return Buffer.from(text)
  }

  #writeNext (): void {
    const bytes = this.#take()
    if (bytes === undefined) return
    this.#isWriting = true
    write(this.#fd, bytes, (error, count) => {
      this.#isWriting = false
      this.#hasFailed = error !== null
      if (count < bytes.length || error !== null) this.#rest = bytes.subarray(error === null ? count : 0)
      this.#closeReplaced()
      // The close did not wait for this write.
      if (this.#isClosed) this.#reportLost(countLines(String(this.#rest ?? '')))
      else if (error === null) this.#onWritten()
      else this.#onFailed(error)
    })
  }

  #onWritten (): void {
    this.#endFlushes()
    const dropped = this.#dropped
    if (dropped > 0 && this.#waitingLength < WRITE_LENGTH) {
      this.#dropped = 0
      this.#options.onDropped(dropped)
    }
    if (this.#isWriting) return
    if (this.#rest !== undefined || this.#flushes.length > 0) this.#writeNext()
    else this.#continue()
  }

  #onFailed (error: NodeJS.ErrnoException): void {
    if (!isFull(error)) {
      this.#options.onError?.(error)
      this.#endFlushes(error)
    }
    if (!this.#isWriting) this.#continue()
  }

  /** @param error ends all that wait. */
  #endFlushes (error?: Error): void {
    const written = this.#accepted - this.#waitingLength
    const isOver = ({ until }: Flush) => error !== undefined || (until <= written && this.#rest === undefined)
    const [over, open] = [this.#flushes.filter(isOver), this.#flushes.filter((flush) => !isOver(flush))]
    this.#flushes = open
    for (const { done } of over) done(error)
  }

  #closeReplaced (): void {
    if (this.#replacedFd !== undefined) close(this.#replacedFd, () => {})
    this.#replacedFd = undefined
  }
}

/** Whether a pipe has no room now. */
function isFull (error: unknown): boolean {
  return codeOf(error) === 'EAGAIN' || codeOf(error) === 'EBUSY'
}

function pauseThread (ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Each line has its end. */
function countLines (text: string): number {
  return text.split('\n').length - 1
}
