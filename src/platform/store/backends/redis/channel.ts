// Sends texts to all other processes that have the same Redis channel open. Redis keeps no texts for a
// process that is disconnected, so the channel also reports when texts may have been lost.

import { withinDeadline } from '../../../../base/deadline.ts'
import { clock, random, type Timer, timers } from '../../../../base/time.ts'
import type { Channel, ChannelListener } from '../../changes/channel-broadcast.ts'
import { throwRedisError, toRedisError } from './redis-error.ts'

/** A connection to one server, or to a cluster. */
interface RedisPublisher {
  readonly isCluster: boolean
  publish (channel: string, message: string): Promise<unknown>
  spublish (channel: string, message: string): Promise<unknown>
}

interface RedisSubscriber {
  readonly isCluster: boolean
  readonly status: string
  subscribe (channel: string): Promise<unknown>
  ssubscribe (channel: string): Promise<unknown>
  on (event: string, listener: (channel: string, message: string) => void): unknown
  off (event: string, listener: (channel: string, message: string) => void): unknown
  disconnect (reconnect: boolean): void
}

export interface RedisChannelClients {
  readonly commands: RedisPublisher
  readonly subscriber: RedisSubscriber
}

interface Gap {
  /** Whether texts of other processes may have been lost. */
  readonly isMissed: boolean
  /** The kinds of the texts of this process that may have been lost. */
  readonly unsent: readonly string[]
}

/** After these events texts may have been lost. All but `close` are events of a cluster. */
const INTERRUPTIONS = ['close', '-node', '-subscriber', 'subscribersReady']
/** A probe is a text that a channel sends to itself. */
const PROBE_EVERY_MS = 5000
/** The interval during an interruption. */
const PROBE_EVERY_IN_GAP_MS = 200
/** A subscriber that seems connected but has received no probe for this time is made to reconnect. */
const MAX_SILENCE_MS = 10_000
const OPEN_TIMEOUT_MS = 5000
const NO_GAP: Gap = { isMissed: false, unsent: [] }

export function createRedisChannel (
  { commands, subscriber }: RedisChannelClients, name: string,
  { onText, onMissed, onRestored, onError }: ChannelListener
): Channel {
  const origin = random.uuid()
  const textEvent = subscriber.isCluster ? 'smessage' : 'message'
  let gap: Gap = { isMissed: true, unsent: [] }
  let isClosed = false
  let isSubscribed = false
  let onFirstProbe: (() => void) | undefined
  let lastProbe = 0
  /** Probes up to this number were sent before the interruption. Receiving them does not end it. */
  let lastProbeBeforeGap = 0
  let silentSince = clock.monotonic()
  let lastError: Error | undefined
  let timer: Timer | undefined

  function isWhole (): boolean { return !gap.isMissed && gap.unsent.length === 0 }

  async function publish (text: string): Promise<void> {
    const message = `${origin} ${text}`
    const publishing = commands.isCluster ? commands.spublish(name, message) : commands.publish(name, message)
    await publishing.catch(throwRedisError)
  }

  function probe (): void {
    if (isClosed) return
    schedule()
    if (subscriber.status === 'ready' && clock.monotonic() - silentSince > MAX_SILENCE_MS) {
      silentSince = clock.monotonic()
      interrupt()
      // The one that takes its place is subscribed to nothing.
      isSubscribed = false
      subscriber.disconnect(true)
    }
    // The connection logs the error.
    publish(`?${++lastProbe}`).catch(() => {})
  }

  function schedule (): void {
    timers.clear(timer)
    if (isClosed) return
    timer = timers.setTimeout(probe, isWhole() ? PROBE_EVERY_MS : PROBE_EVERY_IN_GAP_MS).unref()
  }

  function widen (by: Partial<Gap>): void {
    const isNew = isWhole()
    gap = { ...gap, ...by }
    // During a gap a probe is already scheduled. Further errors must not delay it.
    if (isNew) schedule()
  }

  function interrupt (): void {
    lastProbeBeforeGap = lastProbe
    widen({ isMissed: true })
  }

  function onReady (): void {
    subscribe().catch((error: unknown) => {
      lastError = toRedisError(error)
      onError(lastError)
    })
  }

  async function subscribe (): Promise<void> {
    silentSince = clock.monotonic()
    // The subscriber of a cluster renews its subscriptions by itself.
    if (!subscriber.isCluster) await subscriber.subscribe(name)
    else if (!isSubscribed) await subscriber.ssubscribe(name)
    isSubscribed = true
    probe()
  }

  function receive (channel: string, message: string): void {
    if (channel !== name) return
    const end = message.indexOf(' ')
    const [sender, text] = [message.slice(0, end), message.slice(end + 1)]
    try {
      if (sender === origin) receiveOwn(text)
      else if (!text.startsWith('?')) onText(text)
    } catch (error) {
      onError(error)
    }
  }

  function receiveOwn (text: string): void {
    if (!text.startsWith('?')) return
    silentSince = clock.monotonic()
    if (Number(text.slice(1)) <= lastProbeBeforeGap) return
    const [ended, wasWhole] = [gap, isWhole()]
    gap = NO_GAP
    if (onFirstProbe !== undefined) onFirstProbe()
    else if (!wasWhole) report(ended)
  }

  function report ({ isMissed, unsent }: Gap): void {
    if (unsent.length > 0) onRestored(unsent)
    if (isMissed) onMissed()
  }

  function toOpenTimeout (): Error {
    const cause = lastError ?? new Error('Redis is not connected, or its user may not use the channel')
    return new Error(`nothing arrived on the Redis channel ${name} within ${OPEN_TIMEOUT_MS} ms`, { cause })
  }

  return {
    /** A silent outage is noticed after MAX_SILENCE_MS. */
    get isWhole (): boolean { return isWhole() },
    /**
     * Resolves once the channel receives its own probe, and rejects after OPEN_TIMEOUT_MS. Probes continue
     * afterwards: an open connection may not be subscribed, or may be half-open.
     */
    async open () {
      const firstProbe = new Promise<void>((resolve) => { onFirstProbe = resolve })
      subscriber.on(textEvent, receive)
      subscriber.on('ready', onReady)
      for (const event of INTERRUPTIONS) subscriber.on(event, interrupt)
      if (subscriber.status === 'ready') onReady()
      schedule()
      try {
        await withinDeadline(firstProbe, OPEN_TIMEOUT_MS, toOpenTimeout)
      } finally {
        onFirstProbe = undefined
      }
    },
    /** Rejects if Redis did not confirm the text. */
    async send (text, kinds) {
      try {
        await publish(text)
      } catch (error) {
        widen({ unsent: [...new Set([...gap.unsent, ...kinds])] })
        throw error
      }
    },
    async close () {
      isClosed = true
      timers.clear(timer)
      subscriber.off(textEvent, receive)
      subscriber.off('ready', onReady)
      for (const event of INTERRUPTIONS) subscriber.off(event, interrupt)
    }
  }
}
