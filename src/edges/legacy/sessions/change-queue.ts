// Changes of one session that wait to be written. All changes that arrive during a write share the next one.

import type { SessionSettingsRecord } from './session-messages.ts'
import type { Session } from './session.ts'

export type SettingsChange = (settings: SessionSettingsRecord) => SessionSettingsRecord

interface QueuedChange {
  readonly change: SettingsChange
  resolve (): void
  reject (error: unknown): void
}

/** Writes what `apply` returns for the present settings; nothing if that is `undefined`. */
type WriteSettings = (
  session: Session, apply: (settings: SessionSettingsRecord) => SessionSettingsRecord | undefined
) => Promise<void>

export class ChangeQueue {
  readonly #write: WriteSettings
  readonly #waiting = new Map<string, QueuedChange[]>()

  constructor (write: WriteSettings) {
    this.#write = write
  }

  /** Resolves when the change is written. Rejects if it throws, or if the write fails. */
  async add (session: Session, change: SettingsChange): Promise<void> {
    const queue = this.#waiting.get(session.id)
    const batch = queue ?? []
    const settled = new Promise<void>((resolve, reject) => { batch.push({ change, resolve, reject }) })
    if (queue === undefined) {
      this.#waiting.set(session.id, batch)
      // Settles each change, and does not reject.
      this.#writeWaiting(session).catch(() => {})
    }
    await settled
  }

  async #writeWaiting (session: Session): Promise<void> {
    for (let batch = this.#take(session); batch.length > 0; batch = this.#take(session)) {
      const errors = new Map<QueuedChange, unknown>()
      try {
        await this.#write(session, (before) => applyAll(batch, before, errors))
        for (const queued of batch) {
          if (errors.has(queued)) queued.reject(errors.get(queued))
          else queued.resolve()
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#waiting.delete(session.id)
  }

  #take ({ id }: Session): readonly QueuedChange[] {
    const batch = this.#waiting.get(id) ?? []
    this.#waiting.set(id, [])
    return batch
  }
}

/**
 * A change that throws leaves the settings as they are. Returns `undefined` if all changes throw.
 * @param errors gets the errors of this attempt: one that conflicts with another replica is repeated.
 */
function applyAll (
  batch: readonly QueuedChange[], before: SessionSettingsRecord, errors: Map<QueuedChange, unknown>
): SessionSettingsRecord | undefined {
  errors.clear()
  let settings = before
  for (const queued of batch) {
    try {
      settings = queued.change(settings)
    } catch (error) {
      errors.set(queued, error)
    }
  }
  return errors.size < batch.length ? settings : undefined
}
