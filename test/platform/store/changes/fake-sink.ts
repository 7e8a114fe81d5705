// Streams of a client that a test controls, and the subscriptions over them.

import type { Test } from 'tap'
import type { ScopeGroup } from '../../../../src/platform/access/principal.ts'
import type { RequestId } from '../../../../src/platform/protocol/json-rpc.ts'
import type { SubscriptionFilter } from '../../../../src/platform/protocol/notifications.ts'
import { ListenMessages } from '../../../../src/request/methods/subscriptions-listen.ts'
import type { Broadcast } from '../../../../src/platform/store/changes/broadcast.ts'
import { createLocalBroadcast } from '../../../../src/platform/store/changes/local-broadcast.ts'
import type { MessageSink } from '../../../../src/platform/store/changes/message-sink.ts'
import { Subscription } from '../../../../src/platform/store/changes/subscription.ts'
import {
  createSubscriptions, type Subscriptions, type SubscriptionsOptions
} from '../../../../src/platform/store/changes/subscriptions.ts'
import type { Message } from '../../../helpers/request.ts'

/** A stream whose client reads or does not read, as the test says. */
export class FakeSink implements MessageSink {
  isBlocked = false
  readonly #onDrain: Array<() => void> = []
  readonly #onClose: Array<(isComplete: boolean) => void> = []
  readonly messages: Message[] = []
  keptAlive = 0
  wasCut = false
  wasEnded = false

  get methods (): string[] { return this.messages.slice(1).map(({ method }) => method) }
  get uris (): string[] { return this.messages.flatMap(({ params }) => params?.uri ?? []) }

  send (json: string): void { if (!this.wasEnded) this.messages.push(JSON.parse(json)) }
  keepAlive (): void { this.keptAlive++ }
  onDrain (listener: () => void): void { this.#onDrain.push(listener) }
  onClose (listener: (isComplete: boolean) => void): void { this.#onClose.push(listener) }

  end (json: string): void {
    this.send(json)
    this.wasEnded = true
    this.leave()
  }

  cut (): void {
    this.wasCut = true
    this.leave()
  }

  leave (): void {
    for (const listener of this.#onClose.splice(0)) listener(this.wasEnded)
  }

  unblock (): void {
    this.isBlocked = false
    for (const listener of this.#onDrain) listener()
  }
}

export function build (
  t: Test, options: Partial<SubscriptionsOptions> = {}
): { broadcast: Broadcast, subscriptions: Subscriptions } {
  const broadcast = createLocalBroadcast()
  const subscriptions = createSubscriptions(broadcast, {
    keepAliveMs: 60_000,
    onSlowReader () {},
    ...options
  })
  t.teardown(() => subscriptions.close())
  return { broadcast, subscriptions }
}

/** May hear of everything. */
const everyone: ScopeGroup = { holds: () => true, mayHearOf: () => true }

export function listen (
  subscriptions: Subscriptions, id: RequestId, filter: SubscriptionFilter, sink: MessageSink,
  scopeGroup = everyone
): void {
  const writer = {
    write: (_members: string, _meta?: object) => JSON.stringify({ resultType: 'complete', _meta })
  }
  const messages = new ListenMessages(id, filter, writer)
  subscriptions.open(new Subscription({ owner: 'anonymous', scopeGroup }, filter, messages, sink))
}

export async function publishUpdates (broadcast: Broadcast, uris: readonly string[]): Promise<void> {
  for (const uri of uris) await broadcast.publish({ type: 'resource-updated', uri })
}
