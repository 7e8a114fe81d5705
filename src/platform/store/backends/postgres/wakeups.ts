// Wakes a reader when another replica has written messages. LISTEN needs a connection of its own. A wake-up
// may be lost: the rows of the messages are the truth.

import { hash } from 'node:crypto'
import { withinDeadline } from '../../../../base/deadline.ts'
import { pauseAfter } from '../../../../base/retry.ts'
import { clock, timers, type Timer } from '../../../../base/time.ts'
import { connect, type PostgresTarget } from './connections/connection.ts'
import type { Connection } from './connections/postgres-connection.ts'
import type { SchemaNames } from './schema/schema.ts'
import { quoteName, toStatement, type StatementRunner } from './statement.ts'

interface WakeupsDependencies {
  readonly target: PostgresTarget
  /** Runs statements on other connections than the one that listens. */
  readonly runner: StatementRunner
  readonly names: SchemaNames
  /** The payload of what this replica has written itself. */
  readonly origin: string
  /** Called when messages may have come, and when the connection has ended or is back. */
  onWake (): void
  onError (error: unknown): void
}

const LISTEN_MS = 1000
const toLateError = () => new Error(`LISTEN was not answered within ${LISTEN_MS} ms`)
const RECONNECT = { firstMs: 200, maxMs: 2000 }
/** Begins a payload that a replica sends to itself. */
const PROBE = '?'

/** The name of the channel of NOTIFY. The database has one for each schema. */
export function toChannelName ({ schema }: SchemaNames): string {
  return `trivet_${hash('sha256', schema, 'hex').slice(0, 24)}`
}

export function createWakeups (
  { target, runner, names, origin, onWake, onError }: WakeupsDependencies
) {
  const channel = toChannelName(names)
  const notify = toStatement('SELECT pg_notify($1, $2)')
  let connection: Connection | undefined
  let timer: Timer | undefined
  let failures = 0
  let isClosed = false
  let sentProbes = 0
  let received = 0
  let probedAt = 0

  function receive (payload: string): void {
    const ownProbe = `${PROBE}${origin} `
    if (payload.startsWith(ownProbe)) {
      received = Math.max(received, Number(payload.slice(ownProbe.length)))
      onWake()
    } else if (!payload.startsWith(PROBE) && payload !== origin) onWake()
  }

  async function listen (): Promise<void> {
    const listener = await connect(target)
    try {
      listener.onNotification(receive)
      const listening = listener.runText(`LISTEN ${quoteName(channel)}`)
      await withinDeadline(listening, LISTEN_MS, toLateError)
    } catch (error) {
      listener.destroy()
      throw error
    }
    if (isClosed) return listener.destroy()
    connection = listener
    failures = 0
    listener.onEnd(() => {
      connection = undefined
      if (isClosed) return
      received = 0
      onWake()
      reconnect()
    })
    if (!listener.isOpen) reconnect()
  }

  function reconnect (): void {
    timers.clear(timer)
    if (isClosed) return
    timer = timers.setTimeout(() => {
      listen().then(() => {
        onWake()
        probe()
      }, (error: unknown) => {
        onError(error)
        reconnect()
      })
    }, pauseAfter(failures++, RECONNECT)).unref()
  }

  const isHearing = () => connection?.isOpen === true && sentProbes > 0 && received === sentProbes

  /** Sends a text to this replica. */
  function probe (): void {
    probedAt = clock.monotonic()
    runner.run(notify, [channel, `${PROBE}${origin} ${++sentProbes}`]).catch(onError)
  }

  return {
    channel,
    /** Whether the last probe came back. */
    get isHearing (): boolean { return isHearing() },
    /** Waits for the first probe, at most for this time in milliseconds. */
    async open (probeMs: number): Promise<void> {
      await listen()
      probe()
      while (!isHearing() && clock.monotonic() - probedAt < probeMs) await timers.pause(5)
    },
    /** Call it from time to time. Sends a probe, or connects again if the last one did not come back. */
    check (everyMs: number): void {
      if (clock.monotonic() - probedAt < everyMs) return
      if (isHearing() || target.isPooled || connection === undefined) probe()
      else connection.destroy()
    },
    async close (): Promise<void> {
      isClosed = true
      timers.clear(timer)
      await connection?.close()
    }
  }
}
