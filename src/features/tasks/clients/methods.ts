// The methods of the extension for tasks.
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md

import { findMissingCapabilities } from '../../../platform/protocol/capabilities.ts'
import { TASKS_CAPABILITY } from '../../../platform/protocol/tasks.ts'
import { defineMethod, type Method } from '../../../request/pipeline/method.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import { Type } from '../../../platform/schema/type.ts'
import type { TaskAccess } from './access.ts'

const COMMON = { eras: ['modern'], mirroredName: 'taskId' } as const
const taskParams = Type.Object({ taskId: Type.String() })
const updateParams = Type.Object({ taskId: Type.String(), inputResponses: Type.Record(Type.Unknown()) })

export function createTaskMethods (tasks: TaskAccess): Method[] {
  return [
    // https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-polling
    defineMethod({
      name: 'tasks/get',
      params: taskParams,
      ...COMMON,
      open: ({ taskId }, request) => toCall(request, async () => await tasks.get(request.principal, taskId))
    }),
    // https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-update-requests
    defineMethod({
      name: 'tasks/update',
      params: updateParams,
      ...COMMON,
      open: ({ taskId, inputResponses }, request) => toCall(
        request, async () => { await tasks.update(request.principal, taskId, inputResponses) }
      )
    }),
    // https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-cancellation
    defineMethod({
      name: 'tasks/cancel',
      params: taskParams,
      ...COMMON,
      open: ({ taskId }, request) => toCall(
        request, async () => await tasks.cancel(request.principal, taskId)
      )
    })
  ]
}

/**
 * A client that the catalog has come to call plain still reads the tasks that it has: what counts is what it
 * declares.
 * @param run resolves to the members of the result, if it has any.
 */
function toCall ({ caller, snapshot: { writer } }: RequestContext, run: () => Promise<string | void>) {
  return {
    requiredCapabilities: findMissingCapabilities(TASKS_CAPABILITY, caller.envelope.clientCapabilities),
    handle: async () => writer.write(await run() ?? '')
  }
}
