// Runs a tool, for `tools/call` and for tasks: within its round and its time limit, to a result as JSON.

import { isToolError } from '../../platform/author/tool-error.ts'
import type { Catalog } from '../../catalog/compiled/catalog.ts'
import type { CompiledTool, DedupeRule } from '../../catalog/compiled/compiled-primitive.ts'
import { writeJson, type JsonText } from '../../catalog/compiled/results/large-json.ts'
import { ContractError } from '../../catalog/compiled/results/result-json.ts'
import {
  errorResult, isErrorOutput, outputResult, toolErrorResult
} from '../../catalog/compiled/results/tool-result-json.ts'
import { NotAllowed } from '../../catalog/compiled/scopes/run-authorized.ts'
import { LimitReached, taskChanged, unknownTool } from '../../platform/protocol/errors.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { JournalMismatch, type InputRound } from '../questions/input-round.ts'
import { HandlerContext, UndoHandlerContext, type HandlerDependencies } from './handler-context.ts'
import { HandlerTimeout } from './lifetime.ts'
import type { Call } from './method.ts'
import type { Pipeline } from './pipeline.ts'
import type { RequestContext } from './request-context.ts'
import { openRound, runRound } from './run-handler.ts'
import type { ToolRun, ToolRuns, UndoneTask } from './seams.ts'

/** The method of a call, in the log and in the binding of its request state. */
export const TOOLS_CALL = 'tools/call'

interface Running {
  readonly round: InputRound
  readonly timeoutMs: number
}

type RunnableTool = Pick<CompiledTool, 'run' | 'checkOutput' | 'clientCheck' | 'upstreams' | 'key' | 'limits'>

/** Runs a tool whose result is kept. */
export function runKept (...args: Parameters<typeof runTool>): string | Promise<string> {
  return toString(runTool(...args))
}

function toString (result: JsonText | Promise<JsonText>): string | Promise<string> {
  return typeof result === 'string' ? result : Promise.resolve(result).then(writeJson)
}

/** @param args the arguments, checked and with defaults. */
export function runTool (
  dependencies: HandlerDependencies, request: RequestContext, tool: RunnableTool, args: unknown,
  { round, timeoutMs }: Running
): JsonText | Promise<JsonText> {
  const { observed, writer } = request
  const handle = () => tool.run(args, new HandlerContext(request, round, dependencies, tool))
  const isFailure = (output: unknown) => isErrorOutput(output, tool.checkOutput)
  return runRound(request, round, timeoutMs, handle, (output) => {
    observed.isToolError = isFailure(output)
    const result = outputResult(writer, output, tool.checkOutput, (problems) => {
      request.log.warn({ problems, tool: tool.key }, 'structured content of a tool error left out')
    })
    return dependencies.cutter?.fit(request, tool, result) ?? result
  }, isFailure)
}

/**
 * Asks the tool whether the caller is allowed. Returns or resolves to `''`, or to a question that the client
 * must answer first. Throws, or rejects with, NotAllowed.
 */
export function authorizeCall (
  dependencies: HandlerDependencies, request: RequestContext, rule: DedupeRule, args: unknown,
  { round, timeoutMs }: Running
): string | Promise<string> {
  const decide = () => rule.authorize(args, new HandlerContext(request, round, dependencies, rule))
  return runRound(request, round, timeoutMs, decide, () => '')
}

/** Undoes the work of a task. There is no result. */
async function runUndo (
  dependencies: HandlerDependencies, request: RequestContext, tool: CompiledTool, args: unknown,
  { round, timeoutMs, undone, toDeferral }:
  Running & Pick<ToolRun, 'toDeferral'> & { readonly undone: UndoneTask }
): Promise<string> {
  request.observed.special = 'undo'
  const undo = tool.task?.undo
  if (undo === undefined) throw toDeferral()
  const context = new UndoHandlerContext(request, round, dependencies, tool, undone)
  return await runRound(request, round, timeoutMs, () => undo(args, context), () => '')
}

/** Creates what runs the tools of tasks again. */
export function createToolRuns (
  catalog: Pick<Catalog, 'current'>, pipeline: Pipeline, dependencies: HandlerDependencies
): ToolRuns {
  return {
    async accepts (name, args, isUndo) {
      const tool = catalog.current.primitives.tools.find(({ key }) => key === name)
      if (tool === undefined || (isUndo && tool.task?.undo === undefined)) return false
      return (await tool.checkInput(args ?? {})).ok
    },
    run (run) {
      pipeline.work(TOOLS_CALL, run.caller, run.outlet, (request) => openRun(dependencies, request, run))
    }
  }
}

/**
 * Opens the call that the pipeline runs. Throws if the kept scopes of the caller are not enough any more. A
 * reload after `accepts` may have taken the tool away: a replica that has it runs it later.
 */
function openRun (
  dependencies: HandlerDependencies, request: RequestContext,
  { tool: name, args, journal, undone, ...run }: ToolRun
): Call {
  const tool = request.view.tool(name)
  if (tool === undefined) throw isInCatalog(name, request) ? unknownTool(name, []) : run.toDeferral()
  return {
    subject: tool.key,
    requiredCapabilities: undefined,
    mirroredParams: [],
    limits: tool.limits,
    callArguments: { rule: tool.audit, args: isObject(args) ? args : undefined },
    async handle () {
      const verdict = await tool.checkInput(args ?? {})
      if (!verdict.ok) throw run.toDeferral()
      const round = openRound(request, { method: TOOLS_CALL, name: tool.key, args }, {}, { journal })
      if (undone !== undefined) {
        return await runUndo(dependencies, request, tool, verdict.value, { ...run, round, undone })
      }
      // A call that was kept for its questions alone has the time limit of an ordinary one.
      const ownMs = tool.task?.isForQuestions === true
        ? tool.timeoutMs ?? dependencies.requestTimeoutMs
        : Infinity
      const timeoutMs = Math.min(ownMs, run.timeoutMs)
      return await runKept(dependencies, request, tool, verdict.value, { round, timeoutMs })
    },
    recover (error) {
      run.onError?.(error)
      const retryAfter = error instanceof LimitReached ? error.retryAfterSeconds : undefined
      if (retryAfter !== undefined) throw run.toDeferral(retryAfter)
      if (error instanceof JournalMismatch) throw taskChanged(`${tool.file}: ${error.message}`)
      if (undone !== undefined) throw error
      return recoverCall(dependencies, error, tool, request)
    }
  }
}

function isInCatalog (name: string, { snapshot }: RequestContext): boolean {
  return snapshot.primitives.tools.some(({ key }) => key === name)
}

/** Returns or resolves to the result for an error that a model can act on. Throws any other error. */
export function recoverCall (
  dependencies: HandlerDependencies, error: unknown, tool: CompiledTool, request: RequestContext
): string | Promise<string> {
  const result = toErrorResult(error, tool, request)
  return toString(dependencies.cutter?.fit(request, tool, result) ?? result)
}

function toErrorResult (
  error: unknown, tool: CompiledTool, { writer, log, observed }: RequestContext
): string {
  observed.isToolError = true
  if (error instanceof NotAllowed) observed.special = 'denied'
  if (isToolError(error)) {
    if (error.cause !== undefined) log.warn({ err: error.cause, tool: tool.key }, 'tool error')
    return toolErrorResult(writer, error)
  }
  if (error instanceof LimitReached) {
    observed.special = 'limited'
    return errorResult(writer, error.message)
  }
  if (error instanceof HandlerTimeout) {
    observed.special = 'timed_out'
    return errorResult(
      writer, `${tool.key} did not finish within ${error.timeoutMs} ms and was stopped.`
    )
  }
  // The error itself arose in the service: nothing else in the log tells where the tool is.
  throw error instanceof ContractError ? new ContractError(`${tool.file}:`, [error.message]) : error
}
