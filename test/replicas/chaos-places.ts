// The replicas of the chaos tests: three places behind nginx.

import type { Test } from 'tap'
import { toReplicaEnvironment } from '../helpers/replicas.ts'
import { startNginx } from '../servers/nginx.ts'
import { openPlaces, type Place } from './places.ts'

export const PLACES = 3

interface ChaosPlacesOptions {
  readonly stateUrl: string
  /** The folder of the catalog. */
  readonly catalog: string
  readonly leaseMs: number
  readonly spares: number
  /** Must abort before the test ends: no replica starts after that. */
  readonly signal: AbortSignal
  /** Added to the environment of each replica. */
  readonly environment?: { readonly [variable: string]: string }
}

/** Resolves to the places, and to the endpoint of all of them, when all replicas have started. */
export async function openChaosPlaces (
  t: Test, { stateUrl, catalog, leaseMs, spares, signal, environment = {} }: ChaosPlacesOptions
): Promise<{ readonly url: string, readonly places: readonly Place[] }> {
  const places = await openPlaces(t, {
    signal,
    places: PLACES,
    spares,
    environment: {
      ...await toReplicaEnvironment(t, stateUrl, catalog),
      TRIVET_TASK_LEASE_MS: String(leaseMs),
      TRIVET_WATCH: 'off',
      ...environment
    }
  })
  const origin = await startNginx(t, places.map(({ port }) => port))
  return { url: `${origin}/mcp`, places }
}
