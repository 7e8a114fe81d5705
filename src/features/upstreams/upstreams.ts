// The open upstreams of the service, of all the catalogs that still serve requests.

import type { CircuitBreaker } from '../../base/circuit-breaker.ts'
import type { CompiledUpstream } from './definition/compile-upstream.ts'
import type { OpenUpstream, UpstreamLog } from '../../catalog/compiled/upstreams/open-upstream.ts'
import type { UpstreamOpener } from './definition/upstream-dependency.ts'
import type { ResolveHost } from '../../platform/access/checked-lookup.ts'
import { divide } from '../../platform/limits/limits.ts'
import { openCredential, type CredentialDependencies } from './open-credential.ts'
import type { CallOutcome, Transport } from './calling-upstream.ts'
import { createBreaker, Upstream } from './upstream.ts'

/** @param forget drops what is known of the failures of the upstream. */
export type OpenTransport = (upstream: CompiledUpstream, forget: () => void) => Transport

export interface UpstreamsOptions {
  readonly log: UpstreamLog
  /** The processes among which the limits of a replica are divided. */
  readonly workerCount: number
  readonly credentials: CredentialDependencies
  /** Takes the place of connections: a test has stand-ins for upstreams. */
  readonly openTransport?: OpenTransport | undefined
  /** Takes the place of the resolver of the system. */
  readonly resolveHost?: ResolveHost
}

/** Told of each call that has ended. */
export type OnCall = (upstream: string, outcome: CallOutcome, seconds: number) => void

export interface Upstreams {
  readonly open: UpstreamOpener
  /** Called for each call that ends. Replaced when there are metrics. */
  onCall: OnCall
  /** How many calls run, by upstream. */
  readonly running: { readonly [upstream: string]: number }
}

export function createUpstreams (
  { log, workerCount, credentials, openTransport, resolveHost }: UpstreamsOptions
): Upstreams {
  const all = new Set<Upstream>()

  async function connect (
    compiled: CompiledUpstream, connections: number, breaker: CircuitBreaker
  ): Promise<Transport> {
    if (openTransport !== undefined) return openTransport(compiled, () => breaker.reset())
    // The library takes time to load: a catalog without upstreams starts without it.
    const { openPool } = await import('./pool.ts')
    return openPool(compiled, connections, resolveHost)
  }

  const upstreams: Upstreams = {
    onCall () {},
    get running () {
      const running: { [upstream: string]: number } = {}
      for (const upstream of all) running[upstream.name] = (running[upstream.name] ?? 0) + upstream.running
      return running
    },
    async open (compiled): Promise<OpenUpstream> {
      const running = divide(compiled.running, workerCount)
      // A stand-in needs no credential: a test has no authorization server.
      const auth = openTransport === undefined ? compiled.auth : { type: 'none' } as const
      const credential = openCredential(auth, compiled.name, credentials)
      const breaker = createBreaker()
      const upstream = new Upstream(compiled, {
        transport: await connect(compiled, running, breaker),
        breaker,
        credential,
        log,
        running,
        onCall: (...facts) => upstreams.onCall(...facts)
      })
      all.add(upstream)
      return {
        fetch: async (caller, path, init) => await upstream.fetch(caller, path, init),
        async close () {
          all.delete(upstream)
          await upstream.close()
        }
      }
    }
  }
  return upstreams
}
