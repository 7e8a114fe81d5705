// What a command writes to standard output, and whether it arrived.

import type { Writable } from 'node:stream'
import type { Surroundings } from './command.ts'

/**
 * @param open the stream, for the first text. A service that serves does not open it.
 * @param onUnread called when the reader of the output has closed it, as `head` does.
 */
export function createOutput (
  open: () => Writable, onUnread: () => void
): Pick<Surroundings, 'out' | 'findLoss'> {
  let stream: Writable | undefined
  let loss: Error | undefined

  function note (error: (Error & { readonly code?: unknown }) | null | undefined): void {
    if (error?.code === 'EPIPE') return onUnread()
    const reason = error?.code ?? error?.message
    // The later errors only say that the stream has failed.
    if (reason !== undefined) loss ??= new Error(`standard output cannot be written: ${String(reason)}`)
  }

  return {
    out (text) {
      stream ??= open().on('error', note)
      stream.write(text, note)
    },
    async findLoss () {
      const used = stream
      if (used !== undefined) await new Promise<void>((resolve) => { used.write('', () => resolve()) })
      return loss
    }
  }
}
