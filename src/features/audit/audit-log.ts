// The audit log, and its file.

import { LineDestination } from '../../base/line-destination.ts'
import { createOutageLog } from '../../base/outage-log.ts'
import { clock } from '../../base/time.ts'
import { messageOf } from '../../base/words.ts'
import type { RequestLog } from '../../request/pipeline/caller.ts'
import { createAuditObserver, type WriteAuditLine } from './audit-observer.ts'

/** The file says who did what, so only its owner may read it. */
const MODE = 0o600
/** Opened by descriptor: under some supervisors these are sockets, which have no path. */
const DESCRIPTORS: ReadonlyMap<string, number> = new Map([['/dev/stdout', 1], ['/dev/stderr', 2]])

const SECOND_MS = 1000

interface AuditFileOptions {
  /** In characters. */
  readonly maxWaitingLength?: number
  /** Called with each error of the file. The lines wait, and are written with later ones. */
  onError (error: unknown): void
  /** Called when lines are written again after some were dropped. */
  onDropped (lines: number): void
}

interface AuditFile {
  readonly write: WriteAuditLine
  /** Opens the file anew, so that it can be moved away. */
  reopen (): void
  /** Writes the lines that wait. Resolves in any case. */
  close (): Promise<void>
}

/** Rejects if the file cannot be opened. `undefined` without a path. */
export async function openAuditLog (path: string | undefined, log: RequestLog) {
  if (path === undefined) return undefined
  try {
    const file = openAuditFile(path, {
      onError: createOutageLog({ log, message: 'the audit log cannot be written: its lines wait' }),
      onDropped: (lines) => {
        log.error({ lines }, 'lines of the audit log were dropped: it could not be written')
      }
    })
    return {
      ...file,
      observer: createAuditObserver(file.write),
      noteOperator: (act: object) => file.write(JSON.stringify({ event: 'operator', ...act }).slice(1, -1))
    }
  } catch (cause) {
    const isUnread = cause instanceof Error && 'code' in cause && cause.code === 'ENXIO'
    const reason = isUnread ? 'nobody reads this pipe. Start its reader first' : messageOf(cause)
    throw new Error(`TRIVET_AUDIT_FILE: ${path} cannot be written: ${reason}`, { cause })
  }
}

/** Throws if the file cannot be opened. */
export function openAuditFile (path: string, options: AuditFileOptions): AuditFile {
  const file = new LineDestination({ ...options, dest: DESCRIPTORS.get(path) ?? path, mode: MODE })
  const timeStamp = createTimeStamp()
  return {
    write (members) {
      file.write(`{"time":"${timeStamp(clock.now())}",${members}}\n`)
    },
    reopen () { file.reopen() },
    close: async () => await file.close()
  }
}

/**
 * Returns a function that writes milliseconds since 1970 as `toISOString` does. It makes all but the
 * milliseconds once each second: that takes 0.4 µs less, 0.8 % of a call (400,000 lines in a loop, Node 20
 * and 24).
 */
export function createTimeStamp (): (now: number) => string {
  let second = -1
  let head = ''
  return (now) => {
    const inSecond = now % SECOND_MS
    if (now - inSecond !== second) {
      second = now - inSecond
      head = new Date(second).toISOString().slice(0, -'000Z'.length)
    }
    return `${head}${String(inSecond).padStart(3, '0')}Z`
  }
}
