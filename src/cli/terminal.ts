// Asks a person at a terminal, line by line.

import { createInterface } from 'node:readline'
import type { Terminal } from './command.ts'

interface Streams { readonly input: NodeJS.ReadableStream, readonly output: NodeJS.WritableStream }

/** @param openStreams is called for the first question: an input that is open keeps the process alive. */
export function createTerminal (openStreams: () => Streams): Terminal {
  const lines: string[] = []
  let hasEnded = false
  let wake = () => {}
  let reader: ReturnType<typeof createInterface> | undefined

  function open () {
    const lineReader = createInterface(openStreams())
    // Lines that are typed or pasted ahead are answers to later questions.
    lineReader.on('line', (line) => {
      lines.push(line)
      wake()
    })
    // Ctrl-C and Ctrl-D close it too.
    lineReader.on('close', () => {
      hasEnded = true
      wake()
    })
    return lineReader
  }

  return {
    async ask (prompt) {
      reader ??= open()
      if (!hasEnded) {
        reader.setPrompt(prompt)
        reader.prompt()
      }
      if (lines.length === 0 && !hasEnded) await new Promise<void>((resolve) => { wake = resolve })
      return lines.shift()
    }
  }
}
