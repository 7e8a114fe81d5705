// https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources

import { Type } from 'typebox'
import { isHandleError } from '../authoring/handles.ts'
import { readResult } from '../catalog/read-result.ts'
import { HandlerReadContext, type HandlerOptions } from '../dispatch/handler-context.ts'
import { defineMethod, type Method } from '../dispatch/method.ts'
import { openRound, retryParams, runRound } from '../dispatch/run-round.ts'
import { resourceNotFound } from '../protocol/errors.ts'
import { UNCACHED } from '../protocol/primitives.ts'
import { createParamsReader } from '../schema/params.ts'

const METHOD = 'resources/read'

export function resourcesRead (options: HandlerOptions): Method {
  return defineMethod({
    name: METHOD,
    readParams: createParamsReader(Type.Object({ uri: Type.String(), ...retryParams })),
    handle ({ uri, ...retry }, request) {
      const found = request.view.resource(uri)
      if (found === undefined) throw resourceNotFound(uri)
      // The template and not the URI: what its variables hold are arguments, and no argument goes to the log.
      request.subject = found.resource.key
      const round = openRound(options.inputRounds, request, { method: METHOD, name: uri }, retry)
      const context = new HandlerReadContext(request, round, options, uri)
      const { mimeType } = found.resource
      // What was read with somebody's answers is theirs, and another reading would ask again.
      const cache = retry.inputResponses === undefined && retry.requestState === undefined ? found.resource.cache : UNCACHED
      const read = () => found.kind === 'resource' ? found.resource.read(context) : found.resource.read(found.variables, context)
      return runRound(request, round, options.requestTimeoutMs, read, {
        finish (output) {
          const result = readResult(request.snapshot.writer, output, { uri, mimeType, cache })
          if (result === undefined) throw resourceNotFound(uri)
          return result
        },
        // A handle that is not there for the caller makes its resource one that does not exist.
        fail (error) { throw isHandleError(error) ? resourceNotFound(uri) : error }
      })
    }
  })
}
