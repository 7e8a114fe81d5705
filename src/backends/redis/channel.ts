// Texts to everyone else who has the same channel of Redis open, and whether any of them may have been lost: Redis itself
// keeps none for those who are away.

import { randomUUID } from 'node:crypto'

/** A connection to one server, or to a cluster. */
export interface RedisPublisher {
  readonly isCluster: boolean
  publish (channel: string, message: string): Promise<unknown>
  spublish (channel: string, message: string): Promise<unknown>
}

export interface RedisSubscriber {
  readonly isCluster: boolean
  readonly status: string
  subscribe (channel: string): Promise<unknown>
  ssubscribe (channel: string): Promise<unknown>
  on (event: string, listener: (channel: string, message: string) => void): unknown
  off (event: string, listener: (channel: string, message: string) => void): unknown
  disconnect (reconnect: boolean): void
}

export interface RedisChannelClients { readonly commands: RedisPublisher, readonly subscriber: RedisSubscriber }

/** What may have been lost: what others sent, what was sent from here. */
export interface Gap { readonly isMissed: boolean, readonly isUnsent: boolean }

export interface RedisChannelListener {
  onMessage (text: string): void
  /** Everything comes through again, after a time when something may not have. */
  onRestored (gap: Gap): void
  onError (error: unknown): void
}

export interface RedisChannel {
  /** Rejects where Redis did not confirm it. */
  send (text: string): Promise<void>
  close (): void
}

/** The events after which it is not sure that everything is heard. The later ones are a cluster's. */
const INTERRUPTIONS = ['close', '-node', '-subscriber', 'subscribersReady']
const BEAT_MS = 5000
/** How often it is tried whether messages come through again. */
const PROBE_MS = 200
/** A subscriber that seems connected and has not heard of its own channel for so long is connected anew. */
const MAX_SILENCE_MS = 10_000
const OPEN_TIMEOUT_MS = 5000

/**
 * Resolves once the channel hears what it sends; rejects where it does not in time.
 * That is also how it knows from then on: a connection that is up proves neither that it is subscribed nor that it is not half-open.
 */
export async function openRedisChannel ({ commands, subscriber }: RedisChannelClients, name: string, { onMessage, onRestored, onError }: RedisChannelListener): Promise<RedisChannel> {
  const origin = randomUUID()
  const heardEvent = subscriber.isCluster ? 'smessage' : 'message'
  let gap: Gap = { isMissed: true, isUnsent: false }
  let isClosed = false
  let isSubscribed = false
  let onFirstHeard: (() => void) | undefined
  /** Of the last probe that was sent, and of the last one that proves nothing because it was sent before an interruption. */
  let [probe, staleProbe] = [0, 0]
  let silentSince = performance.now()
  let lastError: unknown
  let timer: NodeJS.Timeout | undefined

  async function publish (text: string): Promise<void> {
    const message = `${origin} ${text}`
    await (commands.isCluster ? commands.spublish(name, message) : commands.publish(name, message))
  }

  function beat (): void {
    if (isClosed) return
    schedule()
    if (subscriber.status === 'ready' && performance.now() - silentSince > MAX_SILENCE_MS) {
      silentSince = performance.now()
      interrupt()
      subscriber.disconnect(true)
    }
    // In vain while Redis is away, which is told elsewhere.
    publish(`?${++probe}`).catch(() => {})
  }

  function schedule (): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(beat, hasGap() ? PROBE_MS : BEAT_MS).unref()
  }

  function widen (by: Partial<Gap>): void {
    const isNew = !hasGap()
    gap = { ...gap, ...by }
    // Otherwise it is being tried already: what keeps failing must not keep putting that off.
    if (isNew) schedule()
  }

  const hasGap = () => gap.isMissed || gap.isUnsent

  function interrupt (): void {
    staleProbe = probe
    widen({ isMissed: true })
  }

  async function subscribe (): Promise<void> {
    silentSince = performance.now()
    try {
      // A cluster's subscriber keeps its subscriptions by itself.
      if (!subscriber.isCluster) await subscriber.subscribe(name)
      else if (!isSubscribed) await subscriber.ssubscribe(name)
      isSubscribed = true
      beat()
    } catch (error) {
      lastError = error
      throw error
    }
  }

  function hear (channel: string, message: string): void {
    if (channel !== name) return
    const end = message.indexOf(' ')
    const [from, text] = [message.slice(0, end), message.slice(end + 1)]
    if (from === origin) hearOwn(text)
    else if (!text.startsWith('?')) onMessage(text)
  }

  function hearOwn (text: string): void {
    if (!text.startsWith('?')) return
    silentSince = performance.now()
    if (Number(text.slice(1)) <= staleProbe) return
    const over = gap
    gap = { isMissed: false, isUnsent: false }
    if (onFirstHeard !== undefined) onFirstHeard()
    else if (over.isMissed || over.isUnsent) onRestored(over)
  }

  const onReady = () => { subscribe().catch(onError) }

  function close (): void {
    isClosed = true
    clearTimeout(timer)
    subscriber.off(heardEvent, hear)
    subscriber.off('ready', onReady)
    for (const event of INTERRUPTIONS) subscriber.off(event, interrupt)
  }

  async function open (): Promise<void> {
    let late: NodeJS.Timeout | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        onFirstHeard = resolve
        late = setTimeout(() => {
          const cause = lastError ?? new Error('Redis is not connected, or its user may not use the channel')
          reject(new Error(`the channel ${name} of Redis was not heard within ${OPEN_TIMEOUT_MS} ms`, { cause }))
        }, OPEN_TIMEOUT_MS)
        subscriber.on(heardEvent, hear)
        subscriber.on('ready', onReady)
        for (const event of INTERRUPTIONS) subscriber.on(event, interrupt)
        if (subscriber.status === 'ready') onReady()
        schedule()
      })
    } catch (error) {
      close()
      throw error
    } finally {
      onFirstHeard = undefined
      clearTimeout(late)
    }
  }

  await open()
  return {
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
