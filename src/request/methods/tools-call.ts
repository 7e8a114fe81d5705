// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools

import { isToolError } from '../../author/tool-error.ts'
import type { CompiledTool } from '../../catalog/compiled/definitions/compile-tool.ts'
import { mirroredFields } from '../../catalog/compiled/definitions/mirrored-params.ts'
import { ContractError } from '../../catalog/compiled/results/result-json.ts'
import {
  errorResult, isErrorOutput, outputResult, toolErrorResult
} from '../../catalog/compiled/results/tool-result-json.ts'
import { NotAllowed } from '../../catalog/compiled/scopes/run-authorized.ts'
import type { ClientCapabilities } from '../../protocol/capabilities.ts'
import { invalidParams, LimitReached, unknownTool } from '../../protocol/errors.ts'
import { hasArgumentErrorResults, hasTasks } from '../../protocol/revisions.ts'
import type { Verdict } from '../../schema/check.ts'
import { Type, type Static } from '../../schema/type.ts'
import { HandlerContext, type HandlerDependencies } from '../pipeline/handler-context.ts'
import { HandlerTimeout } from '../pipeline/lifetime.ts'
import { defineMethod, type Method, type Outcome } from '../pipeline/method.ts'
import type { RequestContext } from '../pipeline/request-context.ts'
import { runDeduped } from '../pipeline/run-deduped.ts'
import { openRound, retryParams, runRound } from '../pipeline/run-handler.ts'

const METHOD = 'tools/call'

const callParams = Type.Object({
  name: Type.String(),
  arguments: Type.Optional(Type.Object({})),
  ...retryParams
})

type CallParams = Static<typeof callParams>

export function toolsCall (dependencies: HandlerDependencies): Method {
  function call (
    tool: CompiledTool, params: CallParams, verdict: Verdict, request: RequestContext
  ): Outcome | Promise<Outcome> {
    const { writer } = request.snapshot
    if (!verdict.ok) return toArgumentsResult(tool, verdict.problems, request)
    // Bound to the arguments as they came, without defaults: the check fills those in again on a retry.
    const subject = { method: METHOD, name: tool.key, args: params.arguments }
    const { task } = request.caller
    const start = tool.task === undefined || task !== undefined
      ? undefined
      : dependencies.tasks.open(request, tool, params.arguments)
    const round = openRound(request, subject, params, task?.journal ?? start?.journal)
    const handle = () => tool.run(verdict.value, new HandlerContext(request, round, dependencies))
    const timeoutMs = task?.timeoutMs ?? tool.timeoutMs ?? dependencies.requestTimeoutMs
    const run = () => runRound(
      request, round, timeoutMs, handle, (output) => {
        request.observed.isToolError = isErrorOutput(output, tool.checkOutput)
        return outputResult(writer, output, tool.checkOutput)
      }
    )
    if (start !== undefined) return start.run(run)
    if (!tool.dedupe) return run()
    return runDeduped(dependencies.firstAnswers, request, {
      tool: tool.key,
      args: [params.arguments, params.inputResponses, params.requestState],
      timeoutMs,
      run,
      recover: (error) => toErrorResult(error, tool, request)
    })
  }

  return defineMethod({
    name: METHOD,
    params: callParams,
    mirroredName: 'name',
    open (params, request) {
      const tool = request.view.tool(params.name)
      if (tool === undefined) throw unknownTool(params.name, request.view.nearestTools(params.name))
      return {
        subject: tool.key,
        requiredCapabilities: requiredCapabilitiesOf(tool, request),
        limits: tool.limits,
        given: { rule: tool.audit, args: params.arguments },
        mirroredParams: mirroredFields(tool.mirroredParams, params.arguments),
        handle () {
          const verdict = tool.checkInput(params.arguments ?? {})
          if (verdict instanceof Promise) {
            return verdict.then((settled) => call(tool, params, settled, request))
          }
          return call(tool, params, verdict, request)
        },
        recover: (error) => toErrorResult(error, tool, request)
      }
    }
  })
}

/** A tool whose calls are always tasks is an ordinary one for clients of earlier revisions. */
function requiredCapabilitiesOf (
  { task, requiredCapabilities }: CompiledTool, { revision }: RequestContext
): ClientCapabilities | undefined {
  return task !== undefined && hasTasks(revision)
    ? task.requiredCapabilities ?? requiredCapabilities
    : requiredCapabilities
}

/** A result for the errors that a model can act on. Throws any other error. */
function toErrorResult (
  error: unknown, tool: CompiledTool, { snapshot, log, observed, caller: { task } }: RequestContext
): string {
  if (task !== undefined && error instanceof LimitReached && error.retryAfterSeconds !== undefined) {
    throw task.toDeferral(error.retryAfterSeconds)
  }
  observed.isToolError = true
  if (error instanceof NotAllowed) observed.special = 'denied'
  if (isToolError(error)) {
    if (error.cause !== undefined) log.warn({ err: error.cause, tool: tool.key }, 'tool error')
    return toolErrorResult(snapshot.writer, error)
  }
  if (error instanceof LimitReached) {
    observed.special = 'limited'
    return errorResult(snapshot.writer, error.message)
  }
  if (error instanceof HandlerTimeout) {
    return errorResult(
      snapshot.writer, `${tool.key} did not finish within ${error.timeoutMs} ms and was stopped.`
    )
  }
  // The error itself arose in the service: nothing else in the log tells where the tool is.
  throw error instanceof ContractError ? new ContractError(`${tool.file}:`, [error.message]) : error
}

/** The problems as a result for the model. Throws invalid params for a revision without such results. */
function toArgumentsResult (
  tool: CompiledTool, problems: readonly string[], { snapshot, revision, observed }: RequestContext
): string {
  const text = `arguments for ${tool.key}:\n${problems.map((problem) => `- ${problem}`).join('\n')}`
  if (!hasArgumentErrorResults(revision)) throw invalidParams(text)
  observed.isToolError = true
  return errorResult(snapshot.writer, `Invalid ${text}`)
}
