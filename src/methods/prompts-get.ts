// https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt

import { Type } from 'typebox'
import { promptResult } from '../catalog/compile-prompt.ts'
import { HandlerContext, type HandlerOptions } from '../dispatch/handler-context.ts'
import { defineMethod, type Method } from '../dispatch/method.ts'
import { runHandler } from '../dispatch/run-handler.ts'
import { invalidParams, unknownPrompt } from '../protocol/errors.ts'
import { createParamsReader } from '../schema/params.ts'

export function promptsGet ({ requestTimeoutMs, notify }: HandlerOptions): Method {
  return defineMethod({
    name: 'prompts/get',
    readParams: createParamsReader(Type.Object({
      name: Type.String(),
      arguments: Type.Optional(Type.Record(Type.String(), Type.String()))
    })),
    async handle ({ name, arguments: args = {} }, request) {
      request.subject = name
      const prompt = request.view.prompt(name)
      if (prompt === undefined) throw unknownPrompt(name)
      const missing = prompt.requiredArguments.filter((argument) => !Object.hasOwn(args, argument))
      if (missing.length > 0) throw invalidParams(`the prompt ${JSON.stringify(name)} needs the argument ${missing.join(', ')}`)
      const unknown = Object.keys(args).filter((argument) => !prompt.completions.has(argument))
      if (unknown.length > 0) throw invalidParams(`the prompt ${JSON.stringify(name)} has no argument ${unknown.join(', ')}`)
      const output = await runHandler(request, requestTimeoutMs, () => prompt.render(args, new HandlerContext(request, notify)))
      return promptResult(request.snapshot.writer, output, prompt.description)
    }
  })
}
