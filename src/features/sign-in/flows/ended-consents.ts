// When a person has last ended a connection. Consents that any browser remembers from before do not count.

import { hash } from 'node:crypto'
import { clock } from '../../../base/time.ts'
import type { StateStore } from '../../../platform/store/records/state-store.ts'

export type EndedConsents = ReturnType<typeof createEndedConsents>

/** Remembered consents live for the same time, in milliseconds. */
const LIFE_MS = 30 * 24 * 3_600_000

export function createEndedConsents (store: Pick<StateStore, 'create' | 'delete' | 'peek'>) {
  const toKey = (subject: string) => ({
    owner: `consents-${hash('sha256', subject, 'base64url').slice(0, 22)}`, name: 'ended'
  })
  return {
    async end (subject: string): Promise<void> {
      const key = toKey(subject)
      await store.delete(key)
      await store.create(key, { bytes: Buffer.from(String(clock.now())) }, { idleMs: LIFE_MS }, 1)
    },
    /** @param since when the person has consented, in milliseconds since the epoch. */
    async hasEnded (subject: string, since: number): Promise<boolean> {
      const record = await store.peek(toKey(subject))
      return record !== undefined && since <= Number(String(record.value.bytes))
    }
  }
}
