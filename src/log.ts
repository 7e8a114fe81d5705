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

export interface ServiceLog {
  readonly logger: Logger
  /**
   * Writes a line of level "info", as `logger.info` does, in a quarter of the time.
   * @param fields members of a JSON object, without braces.
   * @param message without characters that JSON escapes.
   */
  writeInfo (fields: string, message: string): void
}

/** Lines that wait are written when the process exits, also after an error that nobody caught. */
export function openLog (
  level: string, { fd = 1, maxWaitingBytes = MAX_WAITING_BYTES }: LogDestination = {}
): ServiceLog {
  const destination = pino.destination({
    fd, sync: false, minLength: WRITE_BYTES, maxLength: maxWaitingBytes, periodicFlush: FLUSH_MS
  })
  let dropped = 0
  destination.on('drop', () => { dropped++ })
  destination.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    logger.warn({ lines }, 'lines of the log were dropped: it is read more slowly than it is written')
  })
  const logger = pino({ level }, destination)
  const base = readBase()
  return {
    logger,
    writeInfo (fields, message) {
      if (!logger.isLevelEnabled('info')) return
      destination.write(`{"level":30,"time":${Date.now()},${base},${fields},"msg":"${message}"}\n`)
    }
  }
}

/** The fields that pino adds to each line: those of the process and of the machine. */
function readBase (): string {
  let line = '{}'
  pino({ timestamp: false }, { write (written: string) { line = written } }).info({})
  const { level, ...base } = JSON.parse(line)
  return JSON.stringify(base).slice(1, -1)
}

/** Resolves when every line so far is written. */
export async function flushLog (logger: Logger): Promise<void> {
  // The first flush may only wait for a write that was begun before the last lines came.
  await flushOnce(logger)
  await flushOnce(logger)
}

async function flushOnce (logger: Logger): Promise<void> {
  // The error is that of an fsync, which pipes and terminals do not have.
  await new Promise<void>((resolve) => { logger.flush(() => resolve()) })
}
