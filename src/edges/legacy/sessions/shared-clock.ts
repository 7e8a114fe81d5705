// The clock that all replicas share. The clocks of their machines may differ.

import { clock, timers } from '../../../base/time.ts'
import type { Broadcast } from '../../../platform/store/changes/broadcast.ts'

export interface SharedClock {
  /** Milliseconds since the epoch, without waiting. Is late by the time that the last reading took. */
  now (): number
  /** Reads the shared clock. Resolves to `now()` if the clock cannot be read. */
  read (): Promise<number>
  close (): void
}

const REFRESH_MS = 60_000

/** Resolves when the clock was read for the first time, and rejects if that fails. */
export async function openSharedClock (broadcast: Pick<Broadcast, 'time'>): Promise<SharedClock> {
  // The shared time at the zero of this process's monotonic clock.
  let zero = 0
  async function refresh (): Promise<number> {
    const time = await broadcast.time()
    zero = time - clock.monotonic()
    return time
  }

  await refresh()
  const now = () => clock.monotonic() + zero
  const read = async () => await refresh().catch(now)
  // The shared clock may be set, and another server of Redis may have another clock.
  const timer = timers.setInterval(read, REFRESH_MS).unref()
  return { now, read, close () { timers.clear(timer) } }
}
