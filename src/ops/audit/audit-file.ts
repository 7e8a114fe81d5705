// The file of the audit log.

import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { clock } from '../../base/time.ts'
import { openLineDestination } from '../log/line-destination.ts'
import type { WriteAuditLine } from './audit-observer.ts'
import { createTimeStamp } from './time-stamp.ts'

/** The file says who did what, so only its owner may read it. */
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
  path: string, { onError, ...options }: AuditFileOptions
): Promise<AuditFile> {
  const standard = STANDARD.get(path)
  // A destination whose file cannot be opened would make the end of the process fail.
  if (standard === undefined) await (await open(path, 'a', MODE)).close()
  const file = openLineDestination({ ...options, dest: standard ?? path, mode: MODE })
  await once(file, 'ready')
  file.on('error', onError)
  const timeStamp = createTimeStamp()
  return {
    write (members) {
      file.write(`{"time":"${timeStamp(clock.now())}",${members}}\n`)
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
