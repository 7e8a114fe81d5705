// The log: lines of JSON on standard output.

import { pino, type Logger } from 'pino'
import { clock } from '../../base/time.ts'
import { LineDestination } from './line-destination.ts'

export interface LogDestination {
  /** The file descriptor to write to. Standard output by default. */
  readonly fd?: number
  /** In characters. */
  readonly maxWaitingLength?: number
  /** Makes the text that is written of a line with its end. The line itself by default. */
  toText? (line: string): string
}

export interface ServiceLog {
  readonly logger: Logger
  /**
   * Writes a line of level "info", as `logger.info` does, in a quarter of the time.
   * @param fields members of a JSON object, without braces.
   * @param message without characters that JSON escapes.
   */
  writeInfo (fields: string, message: string): void
  /** Writes a line of level "info", also if the log has a higher level. */
  announce (fields: object, message: string): void
}

/** Lines that wait are written by `flushLog`, and by `flushAllSync` at the end of the process. */
export function openLog (
  level: string, { fd = 1, toText, ...options }: LogDestination = {}
): ServiceLog {
  const destination = new LineDestination({
    ...options,
    dest: fd,
    onDropped (lines) {
      logger.warn({ lines }, 'lines of the log were dropped: it is read more slowly than it is written')
    }
  })
  const stream = toText === undefined
    ? destination
    : {
        write (line: string) { destination.write(toText(line)) },
        flush (done: (error?: Error) => void) { destination.flush(done) },
        flushSync () { destination.flushSync() }
      }
  const logger = pino({ level }, stream)
  const base = readBase()
  /** @param fields members of a JSON object, without braces. @param message as JSON. */
  const writeLine = (fields: string, message: string) => {
    stream.write(`{"level":30,"time":${clock.now()},${base},${fields},"msg":${message}}\n`)
  }
  return {
    logger,
    writeInfo (fields, message) {
      if (logger.isLevelEnabled('info')) writeLine(fields, `"${message}"`)
    },
    announce (fields, message) { writeLine(JSON.stringify(fields).slice(1, -1), JSON.stringify(message)) }
  }
}

/** The fields that pino adds to each line: those of the process and of the machine. */
function readBase (): string {
  let line = '{}'
  pino({ timestamp: false }, { write (written: string) { line = written } }).info({})
  const { level, ...base } = JSON.parse(line)
  return JSON.stringify(base).slice(1, -1)
}

/** Resolves when every line so far is written, when lines cannot be written, and after half a second. */
export async function flushLog (logger: Logger): Promise<void> {
  await new Promise<void>((resolve) => { logger.flush(() => resolve()) })
}
