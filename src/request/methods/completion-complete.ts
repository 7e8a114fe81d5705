// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion

import { quote } from '../../base/words.ts'
import type { CompiledPrompt } from '../../catalog/compiled/definitions/compile-prompt.ts'
import { complete } from '../../catalog/compiled/lists/completions.ts'
import type { View } from '../../catalog/compiled/view.ts'
import { NO_LIMITS } from '../../platform/limits/call-limits.ts'
import { invalidParams, unknownPrompt } from '../../platform/protocol/errors.ts'
import { Type, type Static } from '../../platform/schema/type.ts'
import type { HandlerDependencies } from '../pipeline/handler-context.ts'
import { defineMethod, type Method } from '../pipeline/method.ts'
import { runHandler } from '../pipeline/run-handler.ts'

const MAX_VALUE_LENGTH = 4096

const reference = Type.Union([
  Type.Object({ type: Type.Literal('ref/prompt'), name: Type.String() }),
  Type.Object({ type: Type.Literal('ref/resource'), uri: Type.String() })
])

type Reference = Static<typeof reference>

export function completionComplete (
  { requestTimeoutMs }: Pick<HandlerDependencies, 'requestTimeoutMs'>
): Method {
  return defineMethod({
    name: 'completion/complete',
    params: Type.Object({
      ref: reference,
      argument: Type.Object({ name: Type.String(), value: Type.String({ maxLength: MAX_VALUE_LENGTH }) }),
      context: Type.Optional(
        Type.Object({ arguments: Type.Optional(Type.Record(Type.String())) })
      )
    }),
    open ({ ref, argument, context = {} }, request) {
      const { view, principal, lifetime, snapshot } = request
      const owner = findReferenced(ref, view)
      const { key, completions, timeoutMs = requestTimeoutMs } = owner
      return {
        subject: key,
        limits: NO_LIMITS,
        async handle () {
          const source = completions.get(argument.name)
          if (source === undefined) {
            throw invalidParams(`${key} has no argument ${quote(argument.name)}`)
          }
          const run = () => complete(source, argument.value, {
            arguments: context.arguments ?? {},
            principal,
            signal: lifetime.signal,
            settings: (definition) => request.settings(definition),
            use: (definition) => request.use(definition),
            fetch: async (upstream, path, init) => await request.fetch(owner, upstream, path, init)
          })
          const completion = await runHandler(request, timeoutMs, run)
          return snapshot.writer.write(`"completion":${JSON.stringify(completion)}`)
        }
      }
    }
  })
}

/** Throws invalid params when the caller has no such prompt or template. */
function findReferenced (
  ref: Reference, view: View
): Pick<CompiledPrompt, 'key' | 'timeoutMs' | 'completions' | 'upstreams'> {
  if (ref.type === 'ref/prompt') {
    const prompt = view.prompt(ref.name)
    if (prompt === undefined) throw unknownPrompt(ref.name)
    return prompt
  }
  const template = view.template(ref.uri)
  if (template !== undefined) return template
  const match = view.resource(ref.uri)
  if (match?.kind === 'template') return match.resource
  throw invalidParams(`no resource template ${quote(ref.uri)}`)
}
