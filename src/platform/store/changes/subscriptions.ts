// All open streams of changes in this process. They share one listener on the broadcast and one timer.

import { createBatches } from '../../../base/batches.ts'
import { timers } from '../../../base/time.ts'
import type { RequestId } from '../../protocol/json-rpc.ts'
import { Announcement } from './announcement.ts'
import type { Broadcast } from './broadcast.ts'
import type { ChangeEvent } from './change-event.ts'
import type { Subscription } from './subscription.ts'

export interface SubscriptionsOptions {
  readonly keepAliveMs: number
  /** Called for each stream that is closed because its client reads too slowly. */
  onSlowReader (id: RequestId): void
}

export type Subscriptions = ReturnType<typeof createSubscriptions>

/** A stream that is blocked in this many consecutive keep-alive rounds is closed. */
const MAX_BLOCKED_ROUNDS = 2

export function createSubscriptions (
  broadcast: Broadcast, { keepAliveMs, onSlowReader }: SubscriptionsOptions
) {
  const open = new Set<Subscription>()
  // In later turns, so that repeated changes within one turn of the event loop are reported once.
  const pending = createBatches((subscription: Subscription) => subscription.flush())
  const quiet = createBatches(keepAliveOne)
  let closed = false
  const unsubscribe = broadcast.subscribe(noteEvent)
  const timer = timers.setInterval(keepAlive, keepAliveMs).unref()

  function noteEvent (event: ChangeEvent): void {
    const announcement = new Announcement(event)
    for (const subscription of open) if (subscription.note(event, announcement)) pending.add(subscription)
  }

  function keepAlive (): void {
    for (const subscription of open) quiet.add(subscription)
  }

  function keepAliveOne (subscription: Subscription): void {
    if (!subscription.sink.isBlocked) {
      subscription.blockedRounds = 0
      subscription.sink.keepAlive()
    } else if (++subscription.blockedRounds >= MAX_BLOCKED_ROUNDS) {
      onSlowReader(subscription.messages.id)
      subscription.sink.cut()
    }
  }

  /** Sends the stream its pending notifications and its last message, and ends it. */
  function end (subscription: Subscription): void {
    subscription.flush()
    subscription.sink.end(subscription.messages.closing?.())
  }

  return {
    end,
    get size (): number { return open.size },
    /** Sends the first message of the stream, then its notifications, until either side ends the stream. */
    open (subscription: Subscription): void {
      const { sink, messages } = subscription
      sink.onClose(() => {
        open.delete(subscription)
        pending.delete(subscription)
        quiet.delete(subscription)
      })
      sink.onDrain(() => {
        // The client reads, so it is not too slow.
        subscription.blockedRounds = 0
        // Not at once: thousands of clients may read in one turn of the event loop.
        if (subscription.isPending) pending.add(subscription)
      })
      // Sent before the stream is added, so that no notification precedes it.
      const opening = messages.opening?.()
      if (opening !== undefined) sink.send(opening)
      if (closed) sink.end(messages.closing?.())
      else open.add(subscription)
    },
    /** Ends each stream as `end` does. Idempotent. */
    close (): void {
      if (closed) return
      closed = true
      timers.clear(timer)
      unsubscribe()
      for (const subscription of [...open]) end(subscription)
    }
  }
}
