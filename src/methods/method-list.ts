// All methods of the service. A new method is a file in this folder and one line here.

import type { HandlerDependencies } from '../dispatch/handler-context.ts'
import type { Method } from '../dispatch/method.ts'
import { completionComplete } from './completion-complete.ts'
import {
  promptsList, resourcesList, resourcesTemplatesList, skillsList, toolsList, type ResourcesListDependencies
} from './lists.ts'
import { promptsGet } from './prompts-get.ts'
import { resourcesDirectoryRead } from './resources-directory-read.ts'
import { resourcesRead } from './resources-read.ts'
import { serverDiscover, type DiscoverDependencies } from './server-discover.ts'
import { skillsGet } from './skills-get.ts'
import { subscriptionsListen, type SubscriptionsListenDependencies } from './subscriptions-listen.ts'
import { tasksCancel } from './tasks-cancel.ts'
import { tasksGet } from './tasks-get.ts'
import { tasksUpdate } from './tasks-update.ts'
import type { TaskAccess } from '../tasks/task-access.ts'
import { toolsCall } from './tools-call.ts'

type MethodDependencies = HandlerDependencies & DiscoverDependencies & ResourcesListDependencies &
  SubscriptionsListenDependencies & { readonly taskAccess: TaskAccess }

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
    subscriptionsListen(dependencies),
    tasksGet(dependencies.taskAccess),
    tasksUpdate(dependencies.taskAccess),
    tasksCancel(dependencies.taskAccess)
  ]
}
