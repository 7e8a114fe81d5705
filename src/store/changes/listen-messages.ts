// The messages of a `subscriptions/listen` stream.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

import { toResultResponse, type RequestId } from '../../protocol/json-rpc.ts'
import {
  acknowledgedNotification, listChangedNotification, resourceUpdatedNotification, subscriptionMeta,
  type ListName, type SubscriptionFilter
} from '../../protocol/notifications.ts'
import type { StreamMessages } from './subscription.ts'

/** Writes the result that ends a stream. */
interface ListenResultWriter { write (members: '', meta: ReturnType<typeof subscriptionMeta>): string }

/** Every message of the stream contains the id of the `subscriptions/listen` request. */
export class ListenMessages implements StreamMessages {
  readonly id: RequestId
  readonly #filter: SubscriptionFilter
  readonly #writer: ListenResultWriter

  constructor (id: RequestId, filter: SubscriptionFilter, writer: ListenResultWriter) {
    this.id = id
    this.#filter = filter
    this.#writer = writer
  }

  opening (): string { return acknowledgedNotification(this.id, this.#filter) }
  listChanged (list: ListName): string { return listChangedNotification(this.id, list) }
  resourceUpdated (uri: string): string { return resourceUpdatedNotification(this.id, uri) }
  closing (): string { return toResultResponse(this.id, this.#writer.write('', subscriptionMeta(this.id))) }
}
