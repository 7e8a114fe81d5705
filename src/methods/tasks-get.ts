// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-polling

import { defineMethod, type Method } from '../dispatch/method.ts'
import { TASKS_CAPABILITY } from '../protocol/tasks.ts'
import { Type } from '../schema/type.ts'
import type { TaskAccess } from '../tasks/task-access.ts'

export function tasksGet (tasks: TaskAccess): Method {
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
