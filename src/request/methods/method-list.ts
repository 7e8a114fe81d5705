// All methods of the service. A new method is one file in this folder and one line here.

import type { HandlerDependencies } from '../pipeline/handler-context.ts'
import type { Method } from '../pipeline/method.ts'
import { completionComplete } from './completion-complete.ts'
import {
  promptsList, resourcesList, resourcesTemplatesList, skillsList, toolsList, type ResourcesListDependencies
} from './lists.ts'
import { promptsGet } from './prompts-get.ts'
import { resourcesDirectoryRead, resourcesRead } from './resources-read.ts'
import { serverDiscover, type DiscoverDependencies } from './server-discover.ts'
import { skillsGet } from './skills-get.ts'
import { subscriptionsListen, type SubscriptionsListenDependencies } from './subscriptions-listen.ts'
import { toolsCall } from './tools-call.ts'

export type MethodDependencies = HandlerDependencies & DiscoverDependencies & ResourcesListDependencies &
  SubscriptionsListenDependencies

export function createMethods (dependencies: MethodDependencies): Method[] {
  return [
    serverDiscover(dependencies),
    toolsList,
    toolsCall(dependencies),
    promptsList,
    promptsGet(dependencies),
    resourcesList(dependencies),
    resourcesTemplatesList,
    resourcesRead(dependencies),
    resourcesDirectoryRead,
    skillsList,
    skillsGet(),
    completionComplete(dependencies),
    subscriptionsListen(dependencies)
  ]
}
