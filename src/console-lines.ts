// Makes lines of the log of what modules write with `console`. As plain text it would be no JSON.

import { Console } from 'node:console'
import { Writable } from 'node:stream'
import type { Logger } from 'pino'

/** What `console` writes to standard error is a warning in the log. */
export function logConsole (logger: Logger, target: Console = console): void {
  const toStream = (level: 'info' | 'warn') => new Writable({
    decodeStrings: false,
    write (text, _encoding, done) {
      logger[level]({ source: 'console' }, '%s', String(text).trimEnd())
      done()
    }
  })
  Object.assign(target, new Console({ stdout: toStream('info'), stderr: toStream('warn') }))
}
