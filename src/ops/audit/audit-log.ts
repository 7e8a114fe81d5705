// Opens the audit log that a setting names.

import { createOutageLog } from '../../base/outage-log.ts'
import { messageOf } from '../../base/words.ts'
import type { RequestLog } from '../../request/pipeline/caller.ts'
import { ConfigError } from '../config/config.ts'
import { openAuditFile, type AuditFile } from './audit-file.ts'
import { createAuditObserver } from './audit-observer.ts'

export interface AuditLog extends Pick<AuditFile, 'reopen' | 'close'> {
  readonly observer: ReturnType<typeof createAuditObserver>
}

/** Rejects with a ConfigError if the file cannot be opened. `undefined` without a path. */
export async function openAuditLog (
  path: string | undefined, log: RequestLog
): Promise<AuditLog | undefined> {
  if (path === undefined) return undefined
  try {
    const file = await openAuditFile(path, {
      onError: createOutageLog({ log, message: 'the audit log cannot be written: its lines wait' }),
      onDropped: (lines) => {
        log.error({ lines }, 'lines of the audit log were dropped: it could not be written')
      }
    })
    return { observer: createAuditObserver(file.write), reopen: file.reopen, close: file.close }
  } catch (cause) {
    const reason = messageOf(cause)
    throw new ConfigError([`TRIVET_AUDIT_FILE: ${path} cannot be written: ${reason}`], { cause })
  }
}
