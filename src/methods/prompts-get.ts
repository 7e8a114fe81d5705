// https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt

import { Type } from 'typebox'
import { isHandleError } from '../authoring/handles.ts'
import { promptResult } from '../catalog/compile-prompt.ts'
import { HandlerContext, type HandlerOptions } from '../dispatch/handler-context.ts'
import { defineMethod, type Method } from '../dispatch/method.ts'
import { openRound, retryParams, runRound } from '../dispatch/run-round.ts'
import { invalidParams, unknownPrompt } from '../protocol/errors.ts'
import { createParamsReader } from '../schema/params.ts'

const METHOD = 'prompts/get'

export function promptsGet (options: HandlerOptions): Method {
  return defineMethod({
    name: METHOD,
    readParams: createParamsReader(Type.Object({
      name: Type.String(),
      arguments: Type.Optional(Type.Record(Type.String(), Type.String())),
      ...retryParams
    })),
    handle ({ name, arguments: args = {}, ...retry }, request) {
      request.subject = name
      const prompt = request.view.prompt(name)
      if (prompt === undefined) throw unknownPrompt(name)
      const missing = prompt.requiredArguments.filter((argument) => !Object.hasOwn(args, argument))
      if (missing.length > 0) throw invalidParams(`the prompt ${JSON.stringify(name)} needs the argument ${missing.join(', ')}`)
      const unknown = Object.keys(args).filter((argument) => !prompt.completions.has(argument))
      if (unknown.length > 0) throw invalidParams(`the prompt ${JSON.stringify(name)} has no argument ${unknown.join(', ')}`)
      const round = openRound(options.inputRounds, request, { method: METHOD, name, args }, retry)
      return runRound(request, round, options.requestTimeoutMs, () => prompt.render(args, new HandlerContext(request, round, options)), {
        finish: (output) => promptResult(request.snapshot.writer, output, prompt.description),
        // A handle that is not there for the caller is an argument that does not hold.
        fail (error) { throw isHandleError(error) ? invalidParams(error.message) : error }
      })
    }
  })
}
