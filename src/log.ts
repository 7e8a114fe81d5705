// The log: lines of JSON on standard output. They are written together, so that a request does not wait for
// its line.

import { pino, type Logger } from 'pino'

/** Lines are written after this time, in milliseconds, if they are not written before. */
const FLUSH_MS = 100
/**
 * Lines are written at once when this many bytes wait. A write wakes another thread: that costs as much as
 * making about ten lines. The value must be less than 16 KiB, the most that one write may have.
 */
const WRITE_BYTES = 16_000
/** What may wait when nobody reads the log fast enough, in bytes. Lines after that are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

export interface LogDestination {
  /** The file descriptor to write to. Standard output by default. */
  readonly fd?: number
  readonly maxWaitingBytes?: number
}

/** Lines that wait are written when the process exits, also after an error that nobody caught. */
export function openLog (
  level: string, { fd = 1, maxWaitingBytes = MAX_WAITING_BYTES }: LogDestination = {}
): Logger {
  const destination = pino.destination({
    fd, sync: false, minLength: WRITE_BYTES, maxLength: maxWaitingBytes, periodicFlush: FLUSH_MS
  })
  let dropped = 0
  destination.on('drop', () => { dropped++ })
  destination.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    log.warn({ lines }, 'lines of the log were dropped: it is read more slowly than it is written')
  })
  const log = pino({ level }, destination)
  return log
}

/** Resolves when every line so far is written. */
export async function flushLog (log: Logger): Promise<void> {
  // The first flush may only wait for a write that was begun before the last lines came.
  await flushOnce(log)
  await flushOnce(log)
}

async function flushOnce (log: Logger): Promise<void> {
  // The error is that of an fsync, which pipes and terminals do not have.
  await new Promise<void>((resolve) => { log.flush(() => resolve()) })
}
