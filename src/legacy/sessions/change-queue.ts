// Changes of one session that wait to be written. All changes that arrive during a write share the next one.

import type { SessionSettingsRecord } from './session-messages.ts'
import type { Session } from './session.ts'

export type SettingsChange = (settings: SessionSettingsRecord) => SessionSettingsRecord

interface QueuedChange {
  readonly change: SettingsChange
  resolve (): void
  reject (error: unknown): void
}

interface ChangeQueue {
  /** Resolves when the change is written. Rejects if it throws, or if the write fails. */
  add (session: Session, change: SettingsChange): Promise<void>
}

/** @param write writes what `apply` returns for the present settings; nothing if that is `undefined`. */
export function createChangeQueue (
  write: (
    session: Session, apply: (settings: SessionSettingsRecord) => SessionSettingsRecord | undefined
  ) => Promise<void>
): ChangeQueue {
  const waiting = new Map<string, QueuedChange[]>()

  async function writeWaiting (session: Session): Promise<void> {
    for (let batch = take(session); batch.length > 0; batch = take(session)) {
      // The errors of the last attempt: one that conflicts with another replica is repeated.
      let errors = new Map<QueuedChange, unknown>()
      const apply = (before: SessionSettingsRecord) => {
        const applied = applyAll(batch, before)
        errors = applied.errors
        return errors.size < batch.length ? applied.settings : undefined
      }
      try {
        await write(session, apply)
        for (const queued of batch) {
          if (errors.has(queued)) queued.reject(errors.get(queued))
          else queued.resolve()
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    waiting.delete(session.id)
  }

  function take ({ id }: Session): readonly QueuedChange[] {
    const batch = waiting.get(id) ?? []
    waiting.set(id, [])
    return batch
  }

  return {
    async add (session, change) {
      const queue = waiting.get(session.id)
      const batch = queue ?? []
      const settled = new Promise<void>((resolve, reject) => { batch.push({ change, resolve, reject }) })
      if (queue === undefined) {
        waiting.set(session.id, batch)
        // Settles each change, and does not reject.
        writeWaiting(session).catch(() => {})
      }
      await settled
    }
  }
}

/** A change that throws leaves the settings as they are. */
function applyAll (batch: readonly QueuedChange[], before: SessionSettingsRecord): {
  readonly settings: SessionSettingsRecord
  readonly errors: Map<QueuedChange, unknown>
} {
  const errors = new Map<QueuedChange, unknown>()
  let settings = before
  for (const queued of batch) {
    try {
      settings = queued.change(settings)
    } catch (error) {
      errors.set(queued, error)
    }
  }
  return { settings, errors }
}
