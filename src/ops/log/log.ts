// The log: lines of JSON on standard output.

import { pino, type Logger } from 'pino'
import type { Lifecycle } from '../../base/lifecycle.ts'
import { clock } from '../../base/time.ts'
import { LineDestination } from '../../base/line-destination.ts'

export interface LogDestination {
  /** The file descriptor to write to. Standard output by default. */
  readonly fd?: number
  /** In characters. */
  readonly maxWaitingLength?: number
  /** The number of this worker, for each line. */
  readonly worker?: number | undefined
  /** Makes the text that is written of a line with its end. The line itself by default. */
  toText? (line: string): string
}

export interface ServiceLog {
  readonly logger: Logger
  /**
   * Writes a line of level "info", as `logger.info` does, in a quarter of the time. That is 4 to 6 % of a
   * request on Node 20.
   * @param fields members of a JSON object, without braces.
   * @param message without characters that JSON escapes.
   */
  writeInfo (fields: string, message: string): void
  /** Writes a line of level "info", also if the log has a higher level. */
  announce (fields: object, message: string): void
}

export interface ProcessLog extends ServiceLog {
  /** Writes lines of a log that another process made. Resolves as `flushLog` does. */
  relay (lines: string): Promise<void>
}

/** Lines that wait are written by `flushLog`, and by `flushAllSync` at the end of the process. */
export function openLog (
  level: string, { fd = 1, toText, worker, ...options }: LogDestination = {}
): ProcessLog {
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
  const base = readBase(worker)
  const logger = pino({ level, base }, stream)
  const baseText = JSON.stringify(base).slice(1, -1)
  /** @param fields members of a JSON object, without braces. @param message as JSON. */
  const writeLine = (fields: string, message: string) => {
    stream.write(`{"level":30,"time":${clock.now()},${baseText},${fields},"msg":${message}}\n`)
  }
  return {
    logger,
    writeInfo (fields, message) {
      if (logger.isLevelEnabled('info')) writeLine(fields, `"${message}"`)
    },
    announce (fields, message) { writeLine(JSON.stringify(fields).slice(1, -1), JSON.stringify(message)) },
    async relay (lines) {
      const texts = toText === undefined ? [lines] : lines.split(/(?<=\n)/).map(toText)
      for (const text of texts) destination.write(text)
      await flushLog(logger)
    }
  }
}

/** The fields of each line: those that pino adds of the process and of the machine, and the worker. */
function readBase (worker: number | undefined): object {
  let line = '{}'
  pino({ timestamp: false }, { write (written: string) { line = written } }).info({})
  const { level, ...base } = JSON.parse(line)
  return { ...base, ...worker !== undefined && { worker } }
}

/** Resolves when every line so far is written, when lines cannot be written, and after half a second. */
export async function flushLog (logger: Logger): Promise<void> {
  await new Promise<void>((resolve) => { logger.flush(() => resolve()) })
}

/** The log of an app in a program that gave it none. Its lines are written when the app is closed. */
export function openOwnLog (level: string, lifecycle: Lifecycle): ServiceLog {
  const log = openLog(level)
  lifecycle.add({ close: async () => await flushLog(log.logger) })
  return log
}
