// Passes on the lines that another process writes to a stream. Lines of several processes would tear each
// other on a full pipe: a pipe takes only 4 KiB as a whole.

import type { Readable } from 'node:stream'

/** A longer line is written in parts, in characters. */
const MAX_LINE_LENGTH = 1_048_576

/** @param write writes whole lines. The next lines are read when it resolves. */
export async function relayLines (stream: Readable, write: (lines: string) => Promise<void>): Promise<void> {
  let partial = ''
  stream.setEncoding('utf8')
  try {
    for await (const chunk of stream) {
      const text = `${partial}${chunk}`
      const end = text.length > MAX_LINE_LENGTH ? text.length : text.lastIndexOf('\n') + 1
      partial = text.slice(end)
      if (end > 0) await write(text.slice(0, end))
    }
  } finally {
    if (partial !== '') await write(`${partial}\n`)
  }
}
