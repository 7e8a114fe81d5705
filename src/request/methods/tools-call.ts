// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools

import type { CompiledTool } from '../../catalog/compiled/compiled-primitive.ts'
import { mirroredFields } from '../../catalog/compiled/definitions/mirrored-params.ts'
import { errorResult } from '../../catalog/compiled/results/tool-result-json.ts'
import { applyTo } from '../../base/apply-to.ts'
import { findArgumentExcess } from '../../platform/limits/call-limiter.ts'
import type { ClientCapabilities } from '../../platform/protocol/capabilities.ts'
import { unknownTool } from '../../platform/protocol/errors.ts'
import { hasTasks } from '../../platform/protocol/revisions.ts'
import type { Verdict } from '../../platform/schema/check.ts'
import { Type, type Static } from '../../platform/schema/type.ts'
import type { HandlerDependencies } from '../pipeline/handler-context.ts'
import { defineMethod, type Method, type Outcome } from '../pipeline/method.ts'
import { noteHidden, type RequestContext } from '../pipeline/request-context.ts'
import type { OpenRound, StartingCall, TaskStarter } from '../pipeline/seams.ts'
import { runDeduped } from '../pipeline/run-deduped.ts'
import { openRound, retryParams } from '../pipeline/run-handler.ts'
import { authorizeCall, recoverCall, runKept, runTool, TOOLS_CALL } from '../pipeline/run-tool.ts'

const callParams = Type.Object({
  name: Type.String(),
  arguments: Type.Optional(Type.Object({})),
  ...retryParams
})

type CallParams = Static<typeof callParams>

interface TaskCallOptions {
  readonly subject: Parameters<typeof openRound>[1]
  readonly timeoutMs: number
  /** Opens a round of the call for the request. */
  readonly open: OpenRound
}

/**
 * A class: V8 comes to allocate object literals of this place in the old space, where they keep all that they
 * name until a full collection. That took 15 µs of a call.
 */
class TaskCall implements StartingCall {
  readonly tool: CompiledTool
  readonly args: unknown
  readonly isRetry: boolean
  readonly openRound: OpenRound

  constructor (tool: CompiledTool, params: CallParams, openRound: OpenRound) {
    this.tool = tool
    this.args = params.arguments
    this.isRetry = params.requestState !== undefined
    this.openRound = openRound
  }
}

export function toolsCall (dependencies: HandlerDependencies): Method {
  function call (
    tool: CompiledTool, params: CallParams, verdict: Verdict, request: RequestContext
  ): Outcome | Promise<Outcome> {
    if (!verdict.ok) return toArgumentsResult(tool, verdict.problems, request)
    // Bound to the arguments as they came, or as they are repaired each time that they come.
    const subject = { method: TOOLS_CALL, name: tool.key, args: params.arguments }
    const timeoutMs = tool.timeoutMs ?? dependencies.requestTimeoutMs
    const open: OpenRound = (waiting) => openRound(waiting, subject, params)
    const { tasks } = dependencies
    if (tasks !== undefined) {
      if (tool.continuesCalls === true) return tasks.continue(request, verdict.value, open)
      if (tool.task !== undefined) {
        return callAsTask(tasks, tool, params, verdict.value, request, { subject, timeoutMs, open })
      }
    }
    if (tool.readsMore === true && dependencies.cutter !== undefined) {
      return dependencies.cutter.readMore(request, verdict.value)
    }
    const round = open(request)
    const { dedupe, checkOutput, clientCheck, upstreams, key, limits } = tool
    const running = { round, timeoutMs }
    if (dedupe === undefined) return runTool(dependencies, request, tool, verdict.value, running)
    const runnable = { run: dedupe.run, checkOutput, clientCheck, upstreams, key, limits }
    return runDeduped(dependencies.firstAnswers, request, {
      tool: tool.key,
      outputHash: dedupe.outputHash,
      args: [params.arguments ?? {}, params.inputResponses, params.requestState],
      timeoutMs,
      authorize: () => authorizeCall(dependencies, request, dedupe, verdict.value, running),
      run: () => runKept(dependencies, request, runnable, verdict.value, running),
      recover: (error) => recoverCall(dependencies, error, tool, request)
    })
  }

  /** Calls a tool whose calls the service may keep. */
  function callAsTask (
    tasks: TaskStarter, tool: CompiledTool, params: CallParams, args: unknown, request: RequestContext,
    { subject, timeoutMs, open }: TaskCallOptions
  ): Outcome | Promise<Outcome> {
    const call = new TaskCall(tool, params, open)
    const openRunning = (sources: Parameters<typeof openRound>[3]) => (
      { round: openRound(request, subject, params, sources), timeoutMs }
    )
    const start = tasks.open(request, call)
    if (start !== undefined) {
      return start.run(() => runKept(dependencies, request, tool, args, openRunning(start)))
    }
    const relay = tasks.openRelay(request, call)
    const run = () => runTool(dependencies, request, tool, args, openRunning({ relay }))
    const finding = relay?.findEarlier()
    return finding === undefined ? run() : finding.then((earlier) => earlier ?? run())
  }

  /** Calls the tool, with repaired arguments if it refuses those that came. */
  function callRepaired (
    tool: CompiledTool, params: CallParams, verdict: Verdict, request: RequestContext
  ): Outcome | Promise<Outcome> {
    if (verdict.ok) return call(tool, params, verdict, request)
    const { log, observed, snapshot: { server, limits } } = request
    const repaired = (tool.arguments ?? server.arguments) === 'strict'
      ? undefined
      : tool.repairInput(params.arguments ?? {}, verdict.places, () => {
        log.debug({ tool: tool.key }, 'arguments not repaired: too many values')
      })
    if (repaired === undefined) return call(tool, params, verdict, request)
    const { value: args, places } = repaired
    // What was a text has no depth.
    const excess = findArgumentExcess(args, tool.limits) ?? findArgumentExcess(args, limits)
    if (excess !== undefined) throw excess
    observed.callArguments = { rule: tool.audit, args }
    return applyTo(tool.checkInput(args), (settled) => {
      observed.isRepaired = settled.ok
      if (settled.ok) log.debug({ tool: tool.key, places }, 'arguments repaired')
      return call(tool, { ...params, arguments: args }, settled, request)
    })
  }

  return defineMethod({
    name: TOOLS_CALL,
    params: callParams,
    mirroredName: 'name',
    open (params, request) {
      const tool = request.view.tool(params.name)
      if (tool === undefined) {
        noteHidden(request, 'tool', params.name)
        throw unknownTool(params.name, request.view.nearestTools(params.name))
      }
      return {
        subject: tool.key,
        requiredCapabilities: requiredCapabilitiesOf(tool, request),
        limits: tool.limits,
        callArguments: { rule: tool.audit, args: params.arguments },
        mirroredParams: mirroredFields(tool.mirroredParams, params.arguments),
        handle () {
          const verdict = tool.checkInput(params.arguments ?? {})
          if (verdict instanceof Promise) {
            return verdict.then((settled) => callRepaired(tool, params, settled, request))
          }
          return callRepaired(tool, params, verdict, request)
        },
        recover: (error, served) => recoverCall(dependencies, error, tool, served)
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

/** Writes the problems for the model, in every revision: hosts hide protocol errors from their models. */
function toArgumentsResult (
  tool: CompiledTool, problems: readonly string[], { writer, observed }: RequestContext
): string {
  observed.isToolError = true
  const list = problems.map((problem) => `- ${problem}`).join('\n')
  return errorResult(writer, `Invalid arguments for ${tool.key}:\n${list}`)
}
