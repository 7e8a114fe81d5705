// All open streams of changes of this process: one listener on the bus, one timer for all of them.

import type { RequestId } from '../protocol/json-rpc.ts'
import type { ChangeEvent } from './change-event.ts'
import type { EventBus } from './event-bus.ts'
import type { Subscription } from './subscription.ts'

export interface SubscriptionsOptions {
  readonly maxStreams: number
  readonly keepAliveMs: number
  /** Told of each stream that was closed because its reader was too slow. */
  onSlowReader (id: RequestId): void
}

export interface Subscriptions {
  readonly size: number
  readonly isFull: boolean
  /** Says what the stream begins with, then carries what it asks for until either side ends it. */
  open (subscription: Subscription): void
  /** Ends every stream with its last messages. Idempotent. */
  close (): void
}

/**
 * A flush of more streams than this is spread over several turns of the event loop, so that requests are
 * served between.
 */
const FLUSH_BATCH = 500
/** A client that has not read for this many keep-alive rounds is cut off. */
const MAX_BLOCKED_ROUNDS = 2

export function createSubscriptions (
  bus: EventBus, { maxStreams, keepAliveMs, onSlowReader }: SubscriptionsOptions
): Subscriptions {
  const open = new Set<Subscription>()
  const pending = new Set<Subscription>()
  let flushing = false
  let closed = false
  const unsubscribe = bus.subscribe(hear)
  const timer = setInterval(keepAlive, keepAliveMs).unref()

  function hear (event: ChangeEvent): void {
    for (const subscription of open) if (subscription.note(event)) pending.add(subscription)
    scheduleFlush()
  }

  // Not at once: what happens within one turn of the event loop is told once.
  function scheduleFlush (): void {
    if (flushing || pending.size === 0) return
    flushing = true
    setImmediate(() => {
      flushing = false
      let left = FLUSH_BATCH
      for (const subscription of pending) {
        if (left-- === 0) break
        pending.delete(subscription)
        subscription.flush()
      }
      scheduleFlush()
    })
  }

  function keepAlive (): void {
    for (const subscription of open) {
      if (!subscription.sink.isBlocked) {
        subscription.blockedRounds = 0
        subscription.sink.keepAlive()
      } else if (++subscription.blockedRounds >= MAX_BLOCKED_ROUNDS) {
        onSlowReader(subscription.messages.id)
        subscription.sink.cut()
      }
    }
  }

  return {
    get size () { return open.size },
    get isFull () { return open.size >= maxStreams },
    open (subscription) {
      const { sink, messages } = subscription
      sink.onClose(() => {
        open.delete(subscription)
        pending.delete(subscription)
      })
      sink.onDrain(() => {
        // Behind, but reading.
        subscription.blockedRounds = 0
        subscription.flush()
      })
      // Before it can hear anything: nothing may precede it.
      const opening = messages.opening?.()
      if (opening !== undefined) sink.send(opening)
      if (closed) sink.end(messages.closing?.())
      else open.add(subscription)
    },
    close () {
      if (closed) return
      closed = true
      clearInterval(timer)
      unsubscribe()
      for (const subscription of [...open]) {
        subscription.flush()
        subscription.sink.end(subscription.messages.closing?.())
      }
    }
  }
}
