// Asks a person at a terminal, line by line.

import { createInterface, type Interface } from 'node:readline'
import type { Terminal } from './command.ts'

interface Streams { readonly input: NodeJS.ReadableStream, readonly output: NodeJS.WritableStream }

/** @param openStreams is called for the first question: an input that is open keeps the process alive. */
export function createTerminal (openStreams: () => Streams): Terminal {
  let reader: Interface | undefined
  /** Lines that are typed or pasted ahead are answers to later questions. */
  let lines: AsyncIterator<string, undefined> | undefined
  let hasEnded = false

  return {
    async ask (prompt) {
      // Ctrl-C and Ctrl-D close it too.
      reader ??= createInterface(openStreams()).once('close', () => { hasEnded = true })
      lines ??= reader[Symbol.asyncIterator]()
      if (!hasEnded) {
        reader.setPrompt(prompt)
        reader.prompt()
      }
      return (await lines.next()).value
    }
  }
}
