// Decides how a call of a tool goes on after its answer: as a task of its client, or continued by its model.

import { ToolError } from '../../../platform/author/tool-error.ts'
import type { TaskRule } from '../../../catalog/compiled/compiled-primitive.ts'
import { findMissingCapabilities, type ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import { hasTasks } from '../../../platform/protocol/revisions.ts'
import { TASKS_CAPABILITY } from '../../../platform/protocol/tasks.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import type { StartingCall } from '../../../request/pipeline/seams.ts'
import { relayedBy } from './first-record.ts'
import { nameCall } from './names.ts'
import { FirstTaskRun, type TaskStartDependencies } from './first-run.ts'

const FORMS: ClientCapabilities = { elicitation: { form: {} } }

/**
 * Returns `undefined` for an ordinary call. Throws a ToolError if the client takes no tasks and the service
 * has no tool that continues calls: nothing was done yet.
 */
export function openCall (
  dependencies: TaskStartDependencies, request: RequestContext, call: StartingCall
): FirstTaskRun | undefined {
  const { tool, tool: { task: rule }, args } = call
  if (rule === undefined || rule.isForQuestions) return undefined
  const takesTasks = declaresTasks(request) && !needsRelay(request, rule)
  if (!takesTasks && !request.snapshot.server.continuesCalls) throw clientLacksTasks(tool.key)
  const name = nameCall(dependencies.records, request, call)
  // A client with an Idempotency-Key will retry: go on when it disconnects.
  if (name?.isGiven === true) request.lifetime.outliveClient()
  const relayed = takesTasks ? undefined : relayedBy(rule)
  return new FirstTaskRun(dependencies, request, call, { tool, rule, args, name, takesTasks, relayed })
}

function declaresTasks ({ revision, envelope }: RequestContext): boolean {
  return hasTasks(revision) &&
    findMissingCapabilities(TASKS_CAPABILITY, envelope.clientCapabilities) === undefined
}

/** Whether only the model of the client can pass on the forms of a tool, which may do without tasks. */
function needsRelay ({ envelope }: RequestContext, rule: TaskRule): boolean {
  return rule.relaysQuestions && rule.requiredCapabilities === undefined &&
    findMissingCapabilities(FORMS, envelope.clientCapabilities) !== undefined
}

function clientLacksTasks (tool: string): ToolError {
  return new ToolError(
    `${tool} may take long, and this client could not learn of its result: it lacks tasks ` +
    '(io.modelcontextprotocol/tasks). Nothing was done. Use a client that has them.'
  )
}
