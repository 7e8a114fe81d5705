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
import { runHandler } from '../dispatch/run-handler.ts'
import { unknownTool } from '../protocol/errors.ts'
import type { Verdict } from '../schema/check.ts'
import { createParamsReader } from '../schema/params.ts'

export function toolsCall ({ requestTimeoutMs, notify }: HandlerOptions): Method {
  function call (tool: CompiledTool, verdict: Verdict, request: RequestContext): string | Promise<string> {
    const { writer } = request.snapshot
    if (!verdict.ok) return errorResult(writer, toComplaint(tool, verdict.problems))
    try {
      const output = runHandler(request, tool.timeoutMs ?? requestTimeoutMs, () =>
        tool.run(verdict.value, new HandlerContext(request, notify)))
      if (!(output instanceof Promise)) return outputResult(writer, output, tool.checkOutput)
      return output.then((settled) => outputResult(writer, settled, tool.checkOutput)).catch((error: unknown) => toErrorResult(error, tool, request))
    } catch (error) {
      return toErrorResult(error, tool, request)
    }
  }

  return defineMethod({
    name: 'tools/call',
    readParams: createParamsReader(Type.Object({
      name: Type.String(),
      arguments: Type.Optional(Type.Object({}))
    })),
    requiredCapabilities: ({ name }, request) => findTool(name, request).requiredCapabilities,
    mirroredParams: ({ name, arguments: args }, request) => mirroredFields(findTool(name, request).mirroredParams, args),
    handle ({ name, arguments: args = {} }, request) {
      const tool = findTool(name, request)
      const verdict = tool.checkInput(args)
      return verdict instanceof Promise ? verdict.then((settled) => call(tool, settled, request)) : call(tool, verdict, request)
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

function toComplaint (tool: CompiledTool, problems: readonly string[]): string {
  return `Invalid arguments for ${tool.key}:\n${problems.map((problem) => `- ${problem}`).join('\n')}`
}
