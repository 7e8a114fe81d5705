// The load of a chaos test on three replicas, while faults befall the store that they share.

import type { Test } from 'tap'
import { openChaosPlaces } from './chaos-places.ts'
import { checkLoad, prepareLoad } from './chaos-tasks-load.ts'
import { killInTurn } from './places.ts'

/** Whether CHAOS_SECONDS is set. Then replicas are killed as well. */
export const IS_LONG = process.env.CHAOS_SECONDS !== undefined
const LEASE_MS = 1500
const KILL_EVERY_MS = 4000

interface StoreFaults {
  readonly stateUrl: string
  readonly seconds: number
  /** Makes faults until this time of `performance.now()`. Resolves to what they were, in words. */
  makeFaults (end: number): Promise<string>
}

/** Fails the test if something that was acknowledged is lost or doubled. */
export async function checkReplicas (
  t: Test, { stateUrl, seconds, makeFaults }: StoreFaults
): Promise<void> {
  const over = new AbortController()
  try {
    const setup = await prepareLoad(t, LEASE_MS)
    const { url, places } = await openChaosPlaces(t, {
      stateUrl,
      catalog: setup.environment.TRIVET_CATALOG ?? '',
      leaseMs: LEASE_MS,
      spares: IS_LONG ? 3 : 0,
      signal: over.signal,
      environment: setup.environment
    })
    await checkLoad(t, url, setup, async () => {
      const end = performance.now() + seconds * 1000
      const killing = IS_LONG ? killInTurn(places, KILL_EVERY_MS, end) : 0
      const [faults, kills] = await Promise.all([makeFaults(end), killing])
      return `${seconds} s: ${faults}, ${kills} replicas killed`
    })
  } finally {
    over.abort()
  }
}
