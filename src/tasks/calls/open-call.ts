// Decides how a call of a tool goes on after its answer: as a task of its client, or continued by its model.

import { ToolError } from '../../author/tool-error.ts'
import type { TaskRule } from '../../catalog/compiled/definitions/compile-tool.ts'
import { findMissingCapabilities, type ClientCapabilities } from '../../protocol/capabilities.ts'
import { hasTasks } from '../../protocol/revisions.ts'
import { TASKS_CAPABILITY } from '../../protocol/tasks.ts'
import type { RequestContext } from '../../request/pipeline/request-context.ts'
import type { StartingCall } from '../../request/pipeline/seams.ts'
import { nameCall } from './names.ts'
import { FirstTaskRun, type TaskStartDependencies } from './first-run.ts'

const FORMS: ClientCapabilities = { elicitation: { form: {} } }
const LINKS: ClientCapabilities = { elicitation: { url: {} } }
const BOTH: ClientCapabilities = { elicitation: { form: {}, url: {} } }

/**
 * Returns `undefined` for an ordinary call. Throws a ToolError if the client takes no tasks and the service
 * has no tool that continues calls: nothing was done yet.
 */
export function openCall (
  dependencies: TaskStartDependencies, request: RequestContext, call: StartingCall
): FirstTaskRun | undefined {
  const { tool, tool: { task: rule }, args } = call
  if (rule === undefined) return undefined
  const takesTasks = !rule.isForQuestions && declaresTasks(request)
  const { continuesCalls } = request.snapshot.server
  // Such a tool is an ordinary one for a client that asks its user itself.
  if (rule.isForQuestions && (!continuesCalls || declares(request, FORMS))) return undefined
  if (!takesTasks && !continuesCalls) throw clientLacksTasks(tool.key)
  const name = nameCall(dependencies.records, request, call)
  // Who sends a key means to come back.
  if (name?.isGiven === true) request.lifetime.outliveClient()
  const relayed = takesTasks ? undefined : toRelayed(rule)
  return new FirstTaskRun(dependencies, request, call, { tool, rule, args, name, takesTasks, relayed })
}

function declaresTasks (request: RequestContext): boolean {
  return hasTasks(request.revision) && declares(request, TASKS_CAPABILITY)
}

function declares ({ envelope }: RequestContext, capabilities: ClientCapabilities): boolean {
  return findMissingCapabilities(capabilities, envelope.clientCapabilities) === undefined
}

/** Every model may pass on a link. */
function toRelayed ({ relaysQuestions }: TaskRule): ClientCapabilities {
  return relaysQuestions ? BOTH : LINKS
}

function clientLacksTasks (tool: string): ToolError {
  return new ToolError(
    `${tool} may take long, and this client could not learn of its result: it lacks tasks ` +
    '(io.modelcontextprotocol/tasks). Nothing was done. Use a client that has them.'
  )
}
