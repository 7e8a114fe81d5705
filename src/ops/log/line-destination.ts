// Where the lines of a log go: a file or a descriptor. Lines are written together, so that a request does not
// wait for its line.

import { pino } from 'pino'

/** Lines are written after this time, in milliseconds, if they are not written before. */
const FLUSH_MS = 100
/**
 * Lines are written at once when this many bytes wait. A write wakes another thread: that costs as much as
 * making about ten lines.
 */
const WRITE_BYTES = 64_000
/** The most that one write may have. */
const MAX_WRITE_BYTES = 65_536
/** What may wait while lines cannot be written fast enough, in bytes. Lines after that are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

interface LineDestinationOptions {
  /** A path, or the number of a file descriptor. */
  readonly dest: string | number
  /** The mode of a file that is created. */
  readonly mode?: number
  readonly maxWaitingBytes?: number
  /** Called when lines are written again after some were dropped. */
  onDropped (lines: number): void
}

type LineDestination = ReturnType<typeof pino.destination>

/** Lines that wait are written when the process exits, also after an error that nobody caught. */
export function openLineDestination (
  { dest, mode, maxWaitingBytes = MAX_WAITING_BYTES, onDropped }: LineDestinationOptions
): LineDestination {
  const destination = pino.destination({
    dest,
    ...mode !== undefined && { mode },
    sync: false,
    minLength: WRITE_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    maxLength: maxWaitingBytes,
    periodicFlush: FLUSH_MS
  })
  let dropped = 0
  destination.on('drop', () => { dropped++ })
  destination.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    onDropped(lines)
  })
  return destination
}
