// Waits until a replica of Redis has what was written. Redis answers before its replicas have a write, and a
// failover to a replica loses what the replica does not have.

import { clock } from '../../../base/time.ts'

interface Replicated {
  call (command: string, ...args: Array<string | number>): Promise<unknown>
  on (event: 'close', listener: () => void): unknown
}

export interface ReplicaAcks {
  /**
   * Call it when a write was answered. Resolves when one replica has the write, or if Redis has no replicas.
   * Rejects if no replica has it in time.
   */
  confirm (): Promise<void>
}

/** Other commands of the connection wait as long. A replica near its master needs a millisecond. */
const WAIT_MS = 500
/** How long it counts that Redis has no replicas, in milliseconds. */
const ALONE_MS = 1000
/** A replica that says nothing for longer does not count. The default of `min-replicas-max-lag`. */
const MAX_LAG_SECONDS = 10
/** The offset is 0 while a new replica loads what the master had before. */
const ONLINE = /^slave\d+:.*\bstate=online,offset=[1-9]\d*,lag=(\d+)/gm

/** @param client a connection to one master, for all writes that are to be confirmed. */
export function createReplicaAcks (client: Replicated): ReplicaAcks {
  let connection = 0
  let aloneUntil = -Infinity
  let next: Promise<void> | undefined
  client.on('close', () => { connection++ })

  async function wait (): Promise<void> {
    if (clock.monotonic() < aloneUntil) return
    if (Number(await client.call('WAIT', 1, WAIT_MS)) > 0) return
    const lags = Array.from(
      String(await client.call('INFO', 'replication')).matchAll(ONLINE), ([, lag]) => Number(lag)
    )
    const online = lags.filter((lag) => lag <= MAX_LAG_SECONDS).length
    if (online > 0) {
      throw new Error(`none of the ${online} replicas of Redis has the write after ${WAIT_MS} ms`)
    }
    aloneUntil = clock.monotonic() + ALONE_MS
  }

  return {
    async confirm () {
      const written = connection
      // In the next turn, so that all writes that are answered in this one share a WAIT.
      next ??= new Promise<void>((resolve) => { setImmediate(resolve) }).then(() => {
        next = undefined
        return wait()
      })
      await next
      // WAIT means the writes of its own connection.
      if (connection !== written) {
        throw new Error('the connection to Redis was lost before a replica had the write')
      }
    }
  }
}
