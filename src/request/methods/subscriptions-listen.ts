// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

import { ownerOf } from '../../platform/access/principal.ts'
import { hasExpired, type TokenWatch } from '../../platform/access/token-watch.ts'
import { checkSubscribableUris } from '../../catalog/compiled/resources/uri.ts'
import type { ResultWriter } from '../../catalog/compiled/results/result-json.ts'
import type { ScopeGroups } from '../pipeline/scope-groups.ts'
import type { View } from '../../catalog/compiled/view.ts'
import type { OpenStreams } from '../../platform/limits/open-streams.ts'
import { findMissingCapabilities } from '../../platform/protocol/capabilities.ts'
import { tokenExpired } from '../../platform/protocol/errors.ts'
import { toResultResponse, type RequestId } from '../../platform/protocol/json-rpc.ts'
import {
  acknowledgedNotification, askedLists, listChangedNotification, resourceUpdatedNotification,
  subscriptionMeta, taskNotification, toListFilter, type ListName, type SubscriptionFilter
} from '../../platform/protocol/notifications.ts'
import { TASKS_CAPABILITY } from '../../platform/protocol/tasks.ts'
import { Type } from '../../platform/schema/type.ts'
import { Subscription, type StreamMessages } from '../../platform/store/changes/subscription.ts'
import type { Subscriptions } from '../../platform/store/changes/subscriptions.ts'
import { defineMethod, type Method, type StreamOpening } from '../pipeline/method.ts'
import type { TaskFollowers } from '../pipeline/seams.ts'

/** How many tasks one stream may follow: each is read when the stream opens. */
const MAX_TASKS = 100

const flag = Type.Optional(Type.Boolean())

export interface SubscriptionsListenDependencies {
  readonly subscriptions: Subscriptions
  readonly openStreams: OpenStreams
  readonly scopeGroups: ScopeGroups
  /** Absent if the service has no tasks. */
  readonly taskFollowers?: TaskFollowers
  readonly tokenWatch: TokenWatch
  /** The lists that can change while the service runs. */
  readonly changingLists: ReadonlySet<ListName>
}

export function subscriptionsListen (dependencies: SubscriptionsListenDependencies): Method {
  const { subscriptions, openStreams, scopeGroups, changingLists, taskFollowers, tokenWatch } = dependencies
  return defineMethod({
    name: 'subscriptions/listen',
    mustStream: true,
    eras: ['modern'],
    params: Type.Object({
      notifications: Type.Object({
        toolsListChanged: flag,
        promptsListChanged: flag,
        resourcesListChanged: flag,
        resourceSubscriptions: Type.Optional(Type.Array(Type.String())),
        taskIds: Type.Optional(Type.Array(Type.String(), { maxItems: MAX_TASKS }))
      })
    }),
    open ({ notifications }, { view, id, caller, principal, snapshot, lifetime }) {
      const { taskIds } = notifications
      // Not the caller: it holds the request, and a stream stays open.
      const sender = { principal, address: caller.address }

      function open (ownTasks?: string[]): StreamOpening {
        const filter = {
          ...toAcceptedFilter(notifications, view, changingLists), ...(ownTasks && { taskIds: ownTasks })
        }
        const listener = { owner: ownerOf(principal), scopeGroup: scopeGroups.of(principal) }
        const messages = new ListenMessages(id, filter, snapshot.writer)
        return {
          open (sink) {
            const subscription = new Subscription(listener, filter, messages, sink)
            subscriptions.open(subscription)
            tokenWatch.add(principal, sink, () => subscriptions.end(subscription))
            if (ownTasks === undefined) return
            const toMessage = (members: string) => taskNotification(id, members)
            taskFollowers?.follow(sender, ownTasks, { sink, toMessage })
          }
        }
      }

      return {
        requiredCapabilities: taskIds &&
          findMissingCapabilities(TASKS_CAPABILITY, caller.envelope.clientCapabilities),
        handle () {
          // A client whose stream ends at once would open it again at once.
          if (hasExpired(principal)) throw tokenExpired()
          openStreams.checkRoom(caller)
          checkSubscribableUris(notifications.resourceSubscriptions ?? [])
          if (taskIds === undefined || taskFollowers === undefined) return open()
          return taskFollowers.findOwn(sender, taskIds, lifetime).then((ownTasks) => {
            openStreams.checkRoom(caller)
            return open(ownTasks)
          })
        }
      }
    }
  })
}

/** The part of the filter that the service accepts: lists that can change, and resources in the view. */
function toAcceptedFilter (
  filter: SubscriptionFilter, view: View, changingLists: ReadonlySet<ListName>
): SubscriptionFilter {
  const { resourceSubscriptions } = filter
  const resources = resourceSubscriptions && view.resourcesAt(resourceSubscriptions).map(({ uri }) => uri)
  return {
    ...toListFilter(askedLists(filter).filter((list) => changingLists.has(list))),
    ...(resources === undefined ? {} : { resourceSubscriptions: [...new Set(resources)] })
  }
}

/** Every message of the stream contains the id of the `subscriptions/listen` request. */
export class ListenMessages implements StreamMessages {
  readonly id: RequestId
  readonly #filter: SubscriptionFilter
  readonly #writer: Pick<ResultWriter, 'write'>

  constructor (id: RequestId, filter: SubscriptionFilter, writer: Pick<ResultWriter, 'write'>) {
    this.id = id
    this.#filter = filter
    this.#writer = writer
  }

  opening (): string { return acknowledgedNotification(this.id, this.#filter) }
  listChanged (list: ListName): string { return listChangedNotification(this.id, list) }
  resourceUpdated (uri: string): string { return resourceUpdatedNotification(this.id, uri) }
  closing (): string { return toResultResponse(this.id, this.#writer.write('', subscriptionMeta(this.id))) }
}
