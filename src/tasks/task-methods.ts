// The methods of the extension for tasks.
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md

import { TASKS_CAPABILITY } from '../protocol/tasks.ts'
import { defineMethod, type Method } from '../request/pipeline/method.ts'
import { Type } from '../schema/type.ts'
import type { TaskAccess } from './task-access.ts'

export function createTaskMethods (tasks: TaskAccess): Method[] {
  return [tasksGet(tasks), tasksUpdate(tasks), tasksCancel(tasks)]
}

/** https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-polling */
function tasksGet (tasks: TaskAccess): Method {
  return defineMethod({
    name: 'tasks/get',
    eras: ['modern'],
    params: Type.Object({ taskId: Type.String() }),
    mirroredName: 'taskId',
    open: ({ taskId }, { principal, snapshot: { writer } }) => ({
      requiredCapabilities: TASKS_CAPABILITY,
      handle: async () => writer.write(await tasks.get(principal, taskId))
    })
  })
}

/** https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-update-requests */
function tasksUpdate (tasks: TaskAccess): Method {
  return defineMethod({
    name: 'tasks/update',
    eras: ['modern'],
    params: Type.Object({ taskId: Type.String(), inputResponses: Type.Record(Type.Unknown()) }),
    mirroredName: 'taskId',
    open: ({ taskId, inputResponses }, { principal, snapshot: { writer } }) => ({
      requiredCapabilities: TASKS_CAPABILITY,
      async handle () {
        await tasks.update(principal, taskId, inputResponses)
        return writer.write('')
      }
    })
  })
}

/** https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-cancellation */
function tasksCancel (tasks: TaskAccess): Method {
  return defineMethod({
    name: 'tasks/cancel',
    eras: ['modern'],
    params: Type.Object({ taskId: Type.String() }),
    mirroredName: 'taskId',
    open: ({ taskId }, { principal, snapshot: { writer } }) => ({
      requiredCapabilities: TASKS_CAPABILITY,
      async handle () {
        await tasks.cancel(principal, taskId)
        return writer.write('')
      }
    })
  })
}
