// Places of replicas behind a load balancer, and spares: replicas that have started, and stand still until
// one of them takes the place of a lost one. A replica can then be killed every second: a start takes longer.

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { findFreePort } from '../helpers/free-port.ts'
import { startService, type Service } from '../helpers/service.ts'

/** An address that stays the same. One replica serves it, or none. */
export interface Place {
  readonly port: number
  /** The index of the release that its replica serves. */
  readonly release: number
  /** Kills its replica, and gives the place to the next spare of the same release. */
  replace (): Promise<void>
  /**
   * Gives the place to a spare of this release, and sends SIGTERM to the replica that had it. Resolves when
   * the spare serves: `exited` is the exit code of the other replica, which still drains.
   */
  deploy (release: number): Promise<{ readonly exited: Promise<number | null> }>
  /** Stops the process of its replica for this time, in milliseconds. Does not wait. */
  pause (ms: number): void
}

/** How many replicas of a release start at once. */
const STARTING = 2
/** How many starts may fail in a row while Redis is away. */
const MAX_FAILURES = 20

interface PlacesOptions {
  /** Must abort before the test ends: no replica starts after that. */
  readonly signal: AbortSignal
  readonly places: number
  /** Of each release. */
  readonly spares: number
  readonly environment: Environment
  /** What each release adds to the environment. The places have the releases in turn. One by default. */
  readonly releases?: readonly Environment[]
}

interface Environment { readonly [variable: string]: string }

/** Resolves when all places have a replica, and all spares have started. The test ends them. */
export async function openPlaces (
  t: Test, { places, spares, environment, signal, releases = [{}] }: PlacesOptions
): Promise<Place[]> {
  const initial = Array.from({ length: places }, (_, index) => index % releases.length)
  const pools = releases.map((more, release) => createPool(
    t, { ...environment, ...more }, initial.filter((one) => one === release).length + spares, signal
  ))
  await Promise.all(pools.map(({ filled }) => filled))
  return await Promise.all(initial.map(async (release) => {
    const port = await findFreePort()
    let replica = await pools[release]?.take()
    const server = createServer((inbound) => {
      inbound.on('error', () => {})
      if (replica === undefined) {
        inbound.destroy()
        return
      }
      const outbound = connect(Number(new URL(replica.url).port), '127.0.0.1').on('error', () => {})
      inbound.pipe(outbound).on('close', () => inbound.destroy())
      outbound.pipe(inbound).on('close', () => outbound.destroy())
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => { server.close() })
    return {
      port,
      get release () { return release },
      async replace () {
        replica?.child.kill('SIGKILL')
        replica = undefined
        replica = await pools[release]?.take()
      },
      async deploy (next) {
        const spare = await pools[next]?.take()
        const before = replica
        replica = spare
        release = next
        return { exited: before?.stop() ?? Promise.resolve(0) }
      },
      pause (ms) {
        const child = replica?.child
        child?.kill('SIGSTOP')
        setTimeout(() => child?.kill('SIGCONT'), ms)
      }
    }
  }))
}

/** Kills the replicas in turn until this time of `performance.now()`. Resolves to how many. */
export async function killInTurn (places: readonly Place[], everyMs: number, end: number): Promise<number> {
  let kills = 0
  for (; performance.now() < end; await pause(everyMs)) await places[kills++ % places.length]?.replace()
  return kills
}

/** Starts a replica for each one that was taken. One that cannot start without Redis is started again. */
function createPool (
  t: Test, environment: Environment, size: number, signal: AbortSignal
) {
  const ready: Service[] = []
  const waiting: Array<(service: Service | undefined) => void> = []
  let wanted = size
  let failures = 0
  signal.addEventListener('abort', () => { for (const leave of waiting.splice(0)) leave(undefined) })

  async function start (): Promise<void> {
    while (wanted > 0 && !signal.aborted) {
      wanted--
      try {
        const service = await startService(t, environment)
        // A process that stands still, so that it takes no tasks.
        service.child.kill('SIGSTOP')
        const next = waiting.shift()
        if (next === undefined) ready.push(service)
        else next(wake(service))
        failures = 0
      } catch (error) {
        // Many in a row have another cause.
        if (++failures > MAX_FAILURES) throw error
        wanted++
      }
    }
  }
  const starting = new Set<Promise<void>>()
  function refill (): void {
    while (starting.size < STARTING) {
      const one = start().finally(() => starting.delete(one))
      starting.add(one)
    }
  }
  refill()
  return {
    filled: Promise.all(starting),
    /** `undefined` if no replica starts any more. */
    async take (): Promise<Service | undefined> {
      if (signal.aborted) return undefined
      wanted++
      refill()
      const service = ready.shift()
      return service === undefined ? await new Promise((resolve) => { waiting.push(resolve) }) : wake(service)
    }
  }
}

function wake (service: Service): Service {
  service.child.kill('SIGCONT')
  return service
}
