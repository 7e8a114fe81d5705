// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-update-requests

import { defineMethod, type Method } from '../dispatch/method.ts'
import { TASKS_CAPABILITY } from '../protocol/tasks.ts'
import { Type } from '../schema/type.ts'
import type { TaskAccess } from '../tasks/task-access.ts'

export function tasksUpdate (tasks: TaskAccess): Method {
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
