// https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt

import { isHandleError } from '../../platform/author/handles.ts'
import { quote } from '../../base/words.ts'
import { promptResult, type CompiledPrompt } from '../../catalog/compiled/definitions/compile-prompt.ts'
import { NO_LIMITS } from '../../platform/limits/call-limits.ts'
import { invalidParams, unknownPrompt } from '../../platform/protocol/errors.ts'
import { Type } from '../../platform/schema/type.ts'
import { HandlerContext, type HandlerDependencies } from '../pipeline/handler-context.ts'
import { defineMethod, type Method } from '../pipeline/method.ts'
import { noteHidden } from '../pipeline/request-context.ts'
import { openRound, retryParams, runRound } from '../pipeline/run-handler.ts'

const METHOD = 'prompts/get'

export function promptsGet (dependencies: HandlerDependencies): Method {
  return defineMethod({
    name: METHOD,
    params: Type.Object({
      name: Type.String(),
      arguments: Type.Optional(Type.Record(Type.String())),
      ...retryParams
    }),
    mirroredName: 'name',
    open (params, request) {
      const { name, arguments: args = {} } = params
      const prompt = request.view.prompt(name)
      if (prompt === undefined) {
        noteHidden(request, 'prompt', name)
        throw unknownPrompt(name)
      }
      return {
        subject: prompt.key,
        limits: NO_LIMITS,
        callArguments: { rule: prompt.audit, args },
        handle () {
          checkArguments(prompt, args)
          const round = openRound(request, { method: METHOD, name, args }, params)
          const render = () => prompt.render(args, new HandlerContext(request, round, dependencies, prompt))
          const timeoutMs = prompt.timeoutMs ?? dependencies.requestTimeoutMs
          return runRound(request, round, timeoutMs, render,
            (output) => promptResult(request.snapshot.writer, output, prompt.description))
        },
        // A handle that the caller does not have is an invalid argument.
        recover (error) { throw isHandleError(error) ? invalidParams(error.message) : error }
      }
    }
  })
}

/** Throws invalid params. */
function checkArguments (
  { key, requiredArguments, completions }: CompiledPrompt, args: { readonly [name: string]: string }
): void {
  const missing = requiredArguments.filter((argument) => !Object.hasOwn(args, argument))
  if (missing.length > 0) {
    throw invalidParams(`the prompt ${JSON.stringify(key)} needs the argument ${missing.join(', ')}`)
  }
  const unknown = Object.keys(args).find((argument) => !completions.has(argument))
  if (unknown !== undefined) {
    throw invalidParams(`the prompt ${JSON.stringify(key)} has no argument ${quote(unknown)}`)
  }
}
