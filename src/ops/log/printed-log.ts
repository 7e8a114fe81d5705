// The lines of the log that modules print, with the request whose code printed them.

import type { Logger } from 'pino'
import type { PrintingRequest, PrintScope } from '../../request/pipeline/print-scope.ts'

export interface PrintedLog extends Pick<PrintScope, 'current'> {
  /** @param source what the module wrote to: `console`, `stdout` or `stderr`. */
  write (
    level: 'info' | 'warn', source: string, text: string, request: PrintingRequest | undefined
  ): void
}

/** The longest text of one line, in UTF-16 code units. A longer one becomes several lines. */
export const MAX_LENGTH = 65_536

export function createPrintedLog (logger: Logger, { current }: Pick<PrintScope, 'current'>): PrintedLog {
  return {
    current,
    write (level, source, text, request) {
      let start = 0
      do logger[level]({ source, ...request }, '%s', text.slice(start, start += MAX_LENGTH))
      while (start < text.length)
    }
  }
}
