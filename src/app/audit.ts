// The composition root of the audit log.

import { createOutageLog } from '../base/outage-log.ts'
import { messageOf } from '../base/words.ts'
import { openAuditFile } from '../ops/audit/audit-file.ts'
import { createAuditObserver } from '../ops/audit/audit-observer.ts'
import { ConfigError } from '../ops/config/config.ts'
import type { RequestLog } from '../request/pipeline/caller.ts'
import type { Observer } from '../request/pipeline/observer.ts'

export interface Audit {
  readonly observer: Observer
  reopen (): void
  close (): Promise<void>
}

/** Rejects with a ConfigError if the file cannot be opened. `undefined` without a path. */
export async function openAudit (path: string | undefined, log: RequestLog): Promise<Audit | undefined> {
  if (path === undefined) return undefined
  try {
    const { write, reopen, close } = await openAuditFile(path, {
      onError: createOutageLog({ log, message: 'the audit log cannot be written: its lines wait' }),
      onDropped: (lines) => {
        log.error({ lines }, 'lines of the audit log were dropped: it could not be written')
      }
    })
    return { observer: createAuditObserver(write), reopen, close }
  } catch (cause) {
    const reason = messageOf(cause)
    throw new ConfigError([`TRIVET_AUDIT_FILE: ${path} cannot be written: ${reason}`], { cause })
  }
}
