// Sends texts to all other processes that have the same Redis channel open. Redis keeps no texts for a
// process that is disconnected, so the channel also reports when texts may have been lost.

import { withinDeadline } from '../../../base/deadline.ts'
import { clock, random, type Timer, timers } from '../../../base/time.ts'
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

/** `onError` is also told what the others throw: the connection must not fail because a listener fails. */
interface RedisChannelListener {
  onText (text: string): void
  /** Called when texts arrive again after an interruption. */
  onRestored (gap: Gap): void
  onError (error: unknown): void
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

export class RedisChannel {
  readonly #commands: RedisPublisher
  readonly #subscriber: RedisSubscriber
  readonly #name: string
  readonly #listener: RedisChannelListener
  readonly #origin = random.uuid()
  #gap: Gap = { isMissed: true, unsent: [] }
  #isClosed = false
  #isSubscribed = false
  #onFirstProbe: (() => void) | undefined
  #lastProbe = 0
  /** Probes up to this number were sent before the interruption. Receiving them does not end it. */
  #lastProbeBeforeGap = 0
  #silentSince = clock.monotonic()
  #lastError: Error | undefined
  #timer: Timer | undefined

  constructor (
    { commands, subscriber }: RedisChannelClients, name: string, listener: RedisChannelListener
  ) {
    this.#commands = commands
    this.#subscriber = subscriber
    this.#name = name
    this.#listener = listener
  }

  /** Whether texts pass, as far as is known. A silent outage is noticed after MAX_SILENCE_MS. */
  get isWhole (): boolean {
    return !this.#gap.isMissed && this.#gap.unsent.length === 0
  }

  /**
   * Resolves once the channel receives its own probe, and rejects after OPEN_TIMEOUT_MS. Probes continue
   * afterwards: an open connection may not be subscribed, or may be half-open.
   */
  async open (): Promise<void> {
    const firstProbe = new Promise<void>((resolve) => { this.#onFirstProbe = resolve })
    this.#subscriber.on(this.#textEvent, this.#receive)
    this.#subscriber.on('ready', this.#onReady)
    for (const event of INTERRUPTIONS) this.#subscriber.on(event, this.#interrupt)
    if (this.#subscriber.status === 'ready') this.#onReady()
    this.#schedule()
    try {
      await withinDeadline(firstProbe, OPEN_TIMEOUT_MS, () => this.#toOpenTimeout())
    } catch (error) {
      this.close()
      throw error
    } finally {
      this.#onFirstProbe = undefined
    }
  }

  /**
   * Rejects if Redis did not confirm the text.
   *
   * @param kinds what is lost with the text, for the report of the gap.
   */
  async send (text: string, kinds: readonly string[]): Promise<void> {
    try {
      await this.#publish(text)
    } catch (error) {
      this.#widen({ unsent: [...new Set([...this.#gap.unsent, ...kinds])] })
      throw error
    }
  }

  /** Idempotent. */
  close (): void {
    this.#isClosed = true
    timers.clear(this.#timer)
    this.#subscriber.off(this.#textEvent, this.#receive)
    this.#subscriber.off('ready', this.#onReady)
    for (const event of INTERRUPTIONS) this.#subscriber.off(event, this.#interrupt)
  }

  get #textEvent (): string {
    return this.#subscriber.isCluster ? 'smessage' : 'message'
  }

  async #publish (text: string): Promise<void> {
    const message = `${this.#origin} ${text}`
    const publishing = this.#commands.isCluster
      ? this.#commands.spublish(this.#name, message)
      : this.#commands.publish(this.#name, message)
    await publishing.catch(throwRedisError)
  }

  #probe (): void {
    if (this.#isClosed) return
    this.#schedule()
    if (this.#subscriber.status === 'ready' && clock.monotonic() - this.#silentSince > MAX_SILENCE_MS) {
      this.#silentSince = clock.monotonic()
      this.#interrupt()
      this.#subscriber.disconnect(true)
    }
    // The connection logs the error.
    this.#publish(`?${++this.#lastProbe}`).catch(() => {})
  }

  #schedule (): void {
    timers.clear(this.#timer)
    if (this.#isClosed) return
    const inMs = this.isWhole ? PROBE_EVERY_MS : PROBE_EVERY_IN_GAP_MS
    this.#timer = timers.setTimeout(() => this.#probe(), inMs).unref()
  }

  #widen (by: Partial<Gap>): void {
    const isNew = this.isWhole
    this.#gap = { ...this.#gap, ...by }
    // During a gap a probe is already scheduled. Further errors must not delay it.
    if (isNew) this.#schedule()
  }

  readonly #interrupt = (): void => {
    this.#lastProbeBeforeGap = this.#lastProbe
    this.#widen({ isMissed: true })
  }

  readonly #onReady = (): void => {
    this.#subscribe().catch((error: unknown) => {
      this.#lastError = toRedisError(error)
      this.#listener.onError(this.#lastError)
    })
  }

  async #subscribe (): Promise<void> {
    this.#silentSince = clock.monotonic()
    // The subscriber of a cluster renews its subscriptions by itself.
    if (!this.#subscriber.isCluster) await this.#subscriber.subscribe(this.#name)
    else if (!this.#isSubscribed) await this.#subscriber.ssubscribe(this.#name)
    this.#isSubscribed = true
    this.#probe()
  }

  readonly #receive = (channel: string, message: string): void => {
    if (channel !== this.#name) return
    const end = message.indexOf(' ')
    const [origin, text] = [message.slice(0, end), message.slice(end + 1)]
    try {
      if (origin === this.#origin) this.#receiveOwn(text)
      else if (!text.startsWith('?')) this.#listener.onText(text)
    } catch (error) {
      this.#listener.onError(error)
    }
  }

  #receiveOwn (text: string): void {
    if (!text.startsWith('?')) return
    this.#silentSince = clock.monotonic()
    if (Number(text.slice(1)) <= this.#lastProbeBeforeGap) return
    const [gap, wasWhole] = [this.#gap, this.isWhole]
    this.#gap = NO_GAP
    if (this.#onFirstProbe !== undefined) this.#onFirstProbe()
    else if (!wasWhole) this.#listener.onRestored(gap)
  }

  #toOpenTimeout (): Error {
    const cause = this.#lastError ?? new Error('Redis is not connected, or its user may not use the channel')
    const message = `nothing arrived on the Redis channel ${this.#name} within ${OPEN_TIMEOUT_MS} ms`
    return new Error(message, { cause })
  }
}
