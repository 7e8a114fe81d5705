// Every method that the service answers: a new one is its own file and one line here.

import type { HandlerOptions } from '../dispatch/handler-context.ts'
import type { Method } from '../dispatch/method.ts'
import { completionComplete } from './completion-complete.ts'
import { promptsGet } from './prompts-get.ts'
import { promptsList } from './prompts-list.ts'
import { resourcesList } from './resources-list.ts'
import { resourcesRead } from './resources-read.ts'
import { resourcesTemplatesList } from './resources-templates-list.ts'
import { serverDiscover, type DiscoverOptions } from './server-discover.ts'
import { subscriptionsListen, type SubscriptionsListenOptions } from './subscriptions-listen.ts'
import { toolsCall } from './tools-call.ts'
import { toolsList } from './tools-list.ts'

export type MethodParts = HandlerOptions & DiscoverOptions & SubscriptionsListenOptions

export function createMethods (parts: MethodParts): Method[] {
  return [
    serverDiscover(parts),
    toolsList(),
    toolsCall(parts),
    promptsList(),
    promptsGet(parts),
    resourcesList(),
    resourcesTemplatesList(),
    resourcesRead(parts),
    completionComplete(parts),
    subscriptionsListen(parts)
  ]
}
