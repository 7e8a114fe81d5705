// The file of the audit log. Lines are appended together, so that a request does not wait for its line.

import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { pino } from 'pino'
import type { WriteAuditLine } from './audit-observer.ts'

/** Lines are written after this time, in milliseconds, if they are not written before. */
const FLUSH_MS = 100
const WRITE_BYTES = 16_000
/** What may wait while the file cannot be written, in bytes. Lines after that are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024
/** Who may read the file decides its owner: it says who did what. */
const MODE = 0o600
/** Written by their numbers: a socket, as some supervisors use it, cannot be opened by a path. */
const STANDARD: ReadonlyMap<string, number> = new Map([['/dev/stdout', 1], ['/dev/stderr', 2]])

interface AuditFileOptions {
  readonly maxWaitingBytes?: number
  /** Called with each error of the file. The lines wait, and are written with later ones. */
  onError (error: unknown): void
  /** Called when lines are written again after some were dropped. */
  onDropped (lines: number): void
}

export interface AuditFile {
  readonly write: WriteAuditLine
  /** Opens the file anew, so that it can be moved away. */
  reopen (): void
  /** Writes the lines that wait. Resolves in any case. */
  close (): Promise<void>
}

/** Rejects if the file cannot be opened. Lines that wait are written when the process exits. */
export async function openAuditFile (
  path: string, { onError, onDropped, maxWaitingBytes = MAX_WAITING_BYTES }: AuditFileOptions
): Promise<AuditFile> {
  const standard = STANDARD.get(path)
  // A destination whose file cannot be opened would make the end of the process fail.
  if (standard === undefined) await (await open(path, 'a', MODE)).close()
  const file = pino.destination({
    dest: standard ?? path,
    mode: MODE,
    sync: false,
    minLength: WRITE_BYTES,
    maxLength: maxWaitingBytes,
    periodicFlush: FLUSH_MS
  })
  await once(file, 'ready')
  let dropped = 0
  file.on('error', onError)
  file.on('drop', () => { dropped++ })
  file.on('drain', () => {
    if (dropped > 0) onDropped(dropped)
    dropped = 0
  })
  return {
    write (line) {
      file.write(`{"time":"${new Date().toISOString()}",${JSON.stringify(line).slice(1)}\n`)
    },
    reopen () { if (standard === undefined) file.reopen() },
    async close () {
      // A file that is not destroyed would be written again and again when the process ends.
      const closed = once(file, 'close').catch(() => file.destroy())
      file.end()
      await closed
    }
  }
}
