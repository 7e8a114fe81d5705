// Sends texts to all other processes that have the same Redis channel open. Redis keeps no texts for a
// process that is disconnected, so the channel also reports when texts may have been lost.

import { clock, random, type Timer, timers } from '../../../base/time.ts'
import { toRedisError } from './redis-error.ts'

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

/** Which texts may have been lost: those of other processes (`isMissed`), or of this one (`isUnsent`). */
interface Gap { readonly isMissed: boolean, readonly isUnsent: boolean }

/** `onError` is also told what the others throw. */
interface RedisChannelListener {
  onMessage (text: string): void
  /** Called when texts arrive again after an interruption. */
  onRestored (gap: Gap): void
  onError (error: unknown): void
}

interface RedisChannel {
  /** Whether texts pass, as far as is known. A silent outage is noticed after MAX_SILENCE_MS. */
  readonly isWhole: boolean
  /** Rejects if Redis did not confirm the text. */
  send (text: string): Promise<void>
  close (): void
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

/**
 * Resolves once the channel receives its own probe, and rejects after OPEN_TIMEOUT_MS. Probes continue
 * afterwards: an open connection may not be subscribed, or may be half-open.
 */
export async function openRedisChannel (
  { commands, subscriber }: RedisChannelClients, name: string, listener: RedisChannelListener
): Promise<RedisChannel> {
  const { onMessage, onRestored, onError } = listener
  const origin = random.uuid()
  const heardEvent = subscriber.isCluster ? 'smessage' : 'message'
  let gap: Gap = { isMissed: true, isUnsent: false }
  let isClosed = false
  let isSubscribed = false
  let onFirstProbe: (() => void) | undefined
  let lastProbe = 0
  /** Probes up to this number were sent before the interruption. Receiving them does not end it. */
  let lastProbeBeforeGap = 0
  let silentSince = clock.monotonic()
  let lastError: Error | undefined
  let timer: Timer | undefined

  async function publish (text: string): Promise<void> {
    const message = `${origin} ${text}`
    try {
      await (commands.isCluster ? commands.spublish(name, message) : commands.publish(name, message))
    } catch (error) {
      throw toRedisError(error)
    }
  }

  function probe (): void {
    if (isClosed) return
    schedule()
    if (subscriber.status === 'ready' && clock.monotonic() - silentSince > MAX_SILENCE_MS) {
      silentSince = clock.monotonic()
      interrupt()
      subscriber.disconnect(true)
    }
    // The connection logs the error.
    publish(`?${++lastProbe}`).catch(() => {})
  }

  function schedule (): void {
    timers.clear(timer)
    if (!isClosed) timer = timers.setTimeout(probe, hasGap() ? PROBE_EVERY_IN_GAP_MS : PROBE_EVERY_MS).unref()
  }

  function widen (by: Partial<Gap>): void {
    const isNew = !hasGap()
    gap = { ...gap, ...by }
    // During a gap a probe is already scheduled. Further errors must not delay it.
    if (isNew) schedule()
  }

  const hasGap = () => gap.isMissed || gap.isUnsent

  function interrupt (): void {
    lastProbeBeforeGap = lastProbe
    widen({ isMissed: true })
  }

  async function subscribe (): Promise<void> {
    silentSince = clock.monotonic()
    try {
      // The subscriber of a cluster renews its subscriptions by itself.
      if (!subscriber.isCluster) await subscriber.subscribe(name)
      else if (!isSubscribed) await subscriber.ssubscribe(name)
      isSubscribed = true
      probe()
    } catch (error) {
      lastError = toRedisError(error)
      throw lastError
    }
  }

  /** The connection must not fail because a listener fails. */
  function guard (call: () => void): void {
    try {
      call()
    } catch (error) {
      onError(error)
    }
  }

  function receive (channel: string, message: string): void {
    if (channel !== name) return
    const end = message.indexOf(' ')
    const [from, text] = [message.slice(0, end), message.slice(end + 1)]
    if (from === origin) receiveOwn(text)
    else if (!text.startsWith('?')) guard(() => onMessage(text))
  }

  function receiveOwn (text: string): void {
    if (!text.startsWith('?')) return
    silentSince = clock.monotonic()
    if (Number(text.slice(1)) <= lastProbeBeforeGap) return
    const endedGap = gap
    gap = { isMissed: false, isUnsent: false }
    if (onFirstProbe !== undefined) onFirstProbe()
    else if (endedGap.isMissed || endedGap.isUnsent) guard(() => onRestored(endedGap))
  }

  const onReady = () => { subscribe().catch(onError) }

  function close (): void {
    isClosed = true
    timers.clear(timer)
    subscriber.off(heardEvent, receive)
    subscriber.off('ready', onReady)
    for (const event of INTERRUPTIONS) subscriber.off(event, interrupt)
  }

  function openTimeoutError (): Error {
    const cause = lastError ?? new Error('Redis is not connected, or its user may not use the channel')
    return new Error(`nothing arrived on the Redis channel ${name} within ${OPEN_TIMEOUT_MS} ms`, { cause })
  }

  async function open (): Promise<void> {
    let late: Timer | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        onFirstProbe = resolve
        late = timers.setTimeout(() => reject(openTimeoutError()), OPEN_TIMEOUT_MS)
        subscriber.on(heardEvent, receive)
        subscriber.on('ready', onReady)
        for (const event of INTERRUPTIONS) subscriber.on(event, interrupt)
        if (subscriber.status === 'ready') onReady()
        schedule()
      })
    } catch (error) {
      close()
      throw error
    } finally {
      onFirstProbe = undefined
      timers.clear(late)
    }
  }

  await open()
  return {
    get isWhole () { return !hasGap() },
    async send (text) {
      try {
        await publish(text)
      } catch (error) {
        widen({ isUnsent: true })
        throw error
      }
    },
    close
  }
}
