// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion

import { Type } from 'typebox'
import { complete } from '../catalog/completions.ts'
import type { CompletionSource } from '../authoring/completion.ts'
import type { View } from '../catalog/view.ts'
import type { HandlerOptions } from '../dispatch/handler-context.ts'
import { defineMethod, type Method } from '../dispatch/method.ts'
import { runHandler } from '../dispatch/run-handler.ts'
import { invalidParams, unknownPrompt } from '../protocol/errors.ts'
import { createParamsReader } from '../schema/params.ts'

const MAX_VALUE_LENGTH = 4096

const readParams = createParamsReader(Type.Object({
  ref: Type.Union([
    Type.Object({ type: Type.Literal('ref/prompt'), name: Type.String() }),
    Type.Object({ type: Type.Literal('ref/resource'), uri: Type.String() })
  ]),
  argument: Type.Object({ name: Type.String(), value: Type.String({ maxLength: MAX_VALUE_LENGTH }) }),
  context: Type.Optional(Type.Object({ arguments: Type.Optional(Type.Record(Type.String(), Type.String())) }))
}))

type Reference = ReturnType<typeof readParams>['ref']

export function completionComplete ({ requestTimeoutMs }: Pick<HandlerOptions, 'requestTimeoutMs'>): Method {
  return defineMethod({
    name: 'completion/complete',
    readParams,
    async handle ({ ref, argument, context = {} }, request) {
      const { key, completions } = findReferenced(ref, request.view)
      request.subject = key
      const source = completions.get(argument.name)
      if (source === undefined) throw invalidParams(`${key} has no argument ${JSON.stringify(argument.name)}`)
      const completion = await runHandler(request, requestTimeoutMs, () => complete(source, argument.value, {
        arguments: context.arguments ?? {},
        principal: request.principal,
        signal: request.signal
      }))
      return request.snapshot.writer.write(`"completion":${JSON.stringify(completion)}`)
    }
  })
}

function findReferenced (ref: Reference, view: View): { readonly key: string, readonly completions: ReadonlyMap<string, CompletionSource> } {
  if (ref.type === 'ref/prompt') {
    const prompt = view.prompt(ref.name)
    if (prompt === undefined) throw unknownPrompt(ref.name)
    return prompt
  }
  const template = view.template(ref.uri)
  if (template !== undefined) return template
  const found = view.resource(ref.uri)
  if (found?.kind === 'template') return found.resource
  throw invalidParams(`no resource template ${JSON.stringify(ref.uri)}`)
}
