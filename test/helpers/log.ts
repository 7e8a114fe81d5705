// A log that a test can read.

import { pino, type Logger } from 'pino'
import type { Message } from './request.ts'

export interface ReadableLog {
  readonly logger: Logger
  /** Every line so far. */
  readonly lines: readonly Message[]
  /** The whole log as text. */
  readonly text: () => string
}

export function createReadableLog (level = 'debug'): ReadableLog {
  const written: string[] = []
  const lines: Message[] = []
  const logger = pino({ level }, {
    write (line: string) {
      written.push(line)
      lines.push(JSON.parse(line))
    }
  })
  return { logger, lines, text: () => written.join('') }
}
