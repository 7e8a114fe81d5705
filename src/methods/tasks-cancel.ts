// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-cancellation

import { defineMethod, type Method } from '../dispatch/method.ts'
import { TASKS_CAPABILITY } from '../protocol/tasks.ts'
import { Type } from '../schema/type.ts'
import type { TaskAccess } from '../tasks/task-access.ts'

export function tasksCancel (tasks: TaskAccess): Method {
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
