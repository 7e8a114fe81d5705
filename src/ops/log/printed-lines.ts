// Makes lines of the log of all that modules print: with `console`, and to the standard streams. As plain
// text it would be no JSON.

import { Console } from 'node:console'
import { Writable } from 'node:stream'
import type { Logger } from 'pino'
import { createPrintScope, type PrintScope } from '../../request/pipeline/print-scope.ts'
import { createPrintedLog, type PrintedLog } from './printed-log.ts'
import { logStreams, type StandardStreams, type StreamLines } from './stream-lines.ts'

export interface PrintedLines extends StreamLines {
  readonly scope: PrintScope
}

export function logPrinted (logger: Logger, streams: StandardStreams): PrintedLines {
  const scope = createPrintScope()
  const log = createPrintedLog(logger, scope)
  logConsole(log)
  return { scope, ...logStreams(log, streams) }
}

/** What `console` writes to standard error is a warning in the log. */
function logConsole (log: PrintedLog): void {
  const toStream = (level: 'info' | 'warn') => new Writable({
    decodeStrings: false,
    write (text, _encoding, done) {
      log.write(level, 'console', String(text).trimEnd(), log.current())
      done()
    }
  })
  Object.assign(console, new Console({ stdout: toStream('info'), stderr: toStream('warn') }))
}
