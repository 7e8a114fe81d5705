// https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources

import { isHandleError } from '../../author/handles.ts'
import { findResource, readMatch } from '../../catalog/compiled/resources/resource-access.ts'
import type { ResourceMatch } from '../../catalog/compiled/resources/resource-lookup.ts'
import { readResult } from '../../catalog/compiled/results/read-result.ts'
import { NO_LIMITS } from '../../limits/call-limits.ts'
import { resourceNotFound, ResourceTooLarge } from '../../protocol/errors.ts'
import { UNCACHED } from '../../protocol/primitives.ts'
import { Type } from '../../schema/type.ts'
import { HandlerReadContext, type HandlerDependencies } from '../pipeline/handler-context.ts'
import { defineMethod, type Method } from '../pipeline/method.ts'
import type { RequestContext } from '../pipeline/request-context.ts'
import { openRound, retryParams, runRound } from '../pipeline/run-round.ts'

const METHOD = 'resources/read'

export function resourcesRead (dependencies: HandlerDependencies): Method {
  return defineMethod({
    name: METHOD,
    params: Type.Object({ uri: Type.String(), ...retryParams }),
    mirroredName: 'uri',
    open ({ uri: asked, ...retry }, request) {
      const found = findResource(request.view, asked)
      const { uri } = found
      const { mimeType, cache: ownCache, timeoutMs = dependencies.requestTimeoutMs } = found.resource
      // Contents that depend on the answers of a user must not be cached: the next read must ask again.
      const cache = retry.inputResponses === undefined && retry.requestState === undefined
        ? ownCache
        : UNCACHED
      return {
        // The template and not the URI: the variables in the URI are arguments, and the log has no arguments.
        subject: found.resource.key,
        limits: NO_LIMITS,
        given: found.kind === 'resource'
          ? undefined
          : { rule: found.resource.audit, args: found.variables },
        handle () {
          const round = openRound(request, { method: METHOD, name: uri }, retry)
          const context = new HandlerReadContext(request, round, dependencies, uri)
          return runRound(request, round, timeoutMs, () => readMatch(found, context), (output) => {
            const result = readResult(request.snapshot.writer, output, { uri, mimeType, cache })
            if (result === undefined) throw resourceNotFound(asked)
            return result
          })
        },
        // The resource of a handle that the caller does not have does not exist for the caller.
        recover (error) {
          if (isHandleError(error)) throw resourceNotFound(asked)
          throw error instanceof ResourceTooLarge ? withDownload(error, found, request, dependencies) : error
        }
      }
    }
  })
}

/** A client can load a large file from a URL, but not from a message. */
function withDownload (
  error: ResourceTooLarge, found: ResourceMatch, { principal }: RequestContext,
  { files }: HandlerDependencies
): ResourceTooLarge {
  const bytes = found.kind === 'resource' ? found.resource.bytes : undefined
  const link = bytes && files.linkTo(found.uri, bytes.size, principal)
  return link === undefined ? error : error.withLink(link)
}
