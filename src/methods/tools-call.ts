// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools

import { Type } from 'typebox'
import { isToolError } from '../authoring/tool-error.ts'
import type { CompiledTool } from '../catalog/compile-tool.ts'
import { mirroredFields } from '../catalog/mirrored-params.ts'
import { errorResult, outputResult, toolErrorResult } from '../catalog/tool-result-json.ts'
import { HandlerTimeout } from '../dispatch/endings.ts'
import { HandlerContext, type HandlerOptions } from '../dispatch/handler-context.ts'
import { defineMethod, type Method } from '../dispatch/method.ts'
import type { RequestContext } from '../dispatch/request-context.ts'
import { openRound, retryParams, runRound } from '../dispatch/run-round.ts'
import { invalidParams, unknownTool } from '../protocol/errors.ts'
import { hasArgumentErrorResults } from '../protocol/revision-features.ts'
import type { Verdict } from '../schema/check.ts'
import { createParamsReader } from '../schema/params.ts'

const METHOD = 'tools/call'

const readParams = createParamsReader(Type.Object({
  name: Type.String(),
  arguments: Type.Optional(Type.Object({})),
  ...retryParams
}))

type CallParams = ReturnType<typeof readParams>

export function toolsCall (options: HandlerOptions): Method {
  function call (tool: CompiledTool, params: CallParams, verdict: Verdict, request: RequestContext): string | Promise<string> {
    const { writer } = request.snapshot
    if (!verdict.ok) return refuse(tool, verdict.problems, request)
    // After the arguments were checked: what was filled in by default is filled in again on a retry.
    const round = openRound(options.inputRounds, request, { method: METHOD, name: tool.key, args: params.arguments }, params)
    return runRound(request, round, tool.timeoutMs ?? options.requestTimeoutMs, () => tool.run(verdict.value, new HandlerContext(request, round, options)), {
      finish: (output) => outputResult(writer, output, tool.checkOutput),
      fail: (error) => toErrorResult(error, tool, request)
    })
  }

  return defineMethod({
    name: METHOD,
    readParams,
    requiredCapabilities: ({ name }, request) => findTool(name, request).requiredCapabilities,
    mirroredParams: ({ name, arguments: args }, request) => mirroredFields(findTool(name, request).mirroredParams, args),
    handle (params, request) {
      const tool = findTool(params.name, request)
      const verdict = tool.checkInput(params.arguments ?? {})
      return verdict instanceof Promise ? verdict.then((settled) => call(tool, params, settled, request)) : call(tool, params, verdict, request)
    }
  })
}

function findTool (name: string, request: RequestContext): CompiledTool {
  request.subject = name
  const tool = request.view.tool(name)
  if (tool === undefined) throw unknownTool(name)
  return tool
}

/** Only a tool error can be acted on by a model; everything else is not its business. */
function toErrorResult (error: unknown, tool: CompiledTool, { snapshot, log }: RequestContext): string {
  if (isToolError(error)) {
    if (error.cause !== undefined) log.warn({ err: error.cause, tool: tool.key }, 'tool error')
    return toolErrorResult(snapshot.writer, error)
  }
  if (error instanceof HandlerTimeout) return errorResult(snapshot.writer, `${tool.key} did not finish within ${error.timeoutMs} ms and was stopped.`)
  throw error
}

/** Said to the model where the revision lets it read that. */
function refuse (tool: CompiledTool, problems: readonly string[], { snapshot, envelope }: RequestContext): string {
  const complaint = `arguments for ${tool.key}:\n${problems.map((problem) => `- ${problem}`).join('\n')}`
  if (!hasArgumentErrorResults(envelope.revision)) throw invalidParams(complaint)
  return errorResult(snapshot.writer, `Invalid ${complaint}`)
}
