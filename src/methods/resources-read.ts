// https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources

import { Type } from 'typebox'
import { readResult } from '../catalog/read-result.ts'
import { HandlerReadContext, type HandlerOptions } from '../dispatch/handler-context.ts'
import { defineMethod, type Method } from '../dispatch/method.ts'
import { runHandler } from '../dispatch/run-handler.ts'
import { resourceNotFound } from '../protocol/errors.ts'
import { createParamsReader } from '../schema/params.ts'

export function resourcesRead ({ requestTimeoutMs, notify }: HandlerOptions): Method {
  return defineMethod({
    name: 'resources/read',
    readParams: createParamsReader(Type.Object({ uri: Type.String() })),
    async handle ({ uri }, request) {
      const found = request.view.resource(uri)
      if (found === undefined) throw resourceNotFound(uri)
      // The template and not the URI: what its variables hold are arguments, and no argument goes to the log.
      request.subject = found.resource.key
      const context = new HandlerReadContext(request, notify, uri)
      const output = await runHandler(request, requestTimeoutMs, () =>
        found.kind === 'resource' ? found.resource.read(context) : found.resource.read(found.variables, context))
      const { mimeType, cache } = found.resource
      const result = readResult(request.snapshot.writer, output, { uri, mimeType, cache })
      if (result === undefined) throw resourceNotFound(uri)
      return result
    }
  })
}
