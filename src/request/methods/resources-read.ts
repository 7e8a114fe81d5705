// The methods that read a resource, or a directory of resources.

import { isHandleError } from '../../platform/author/handles.ts'
import { quote } from '../../base/words.ts'
import { findResource, readMatch } from '../pipeline/resource-access.ts'
import type { ResourceMatch } from '../../catalog/compiled/resources/resource-lookup.ts'
import { readResult } from '../../catalog/compiled/results/read-result.ts'
import { NO_LIMITS } from '../../platform/limits/call-limits.ts'
import {
  invalidCursor, invalidParams, resourceNotFound, ResourceNotFound, ResourceTooLarge
} from '../../platform/protocol/errors.ts'
import { UNCACHED } from '../../platform/protocol/primitives.ts'
import { Type } from '../../platform/schema/type.ts'
import { HandlerReadContext, type HandlerDependencies } from '../pipeline/handler-context.ts'
import { defineMethod, type Method } from '../pipeline/method.ts'
import { noteHidden, type RequestContext } from '../pipeline/request-context.ts'
import { openRound, retryParams, runRound } from '../pipeline/run-handler.ts'

const METHOD = 'resources/read'

/** https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources */
export function resourcesRead (dependencies: HandlerDependencies): Method {
  return defineMethod({
    name: METHOD,
    params: Type.Object({ uri: Type.String(), ...retryParams }),
    mirroredName: 'uri',
    open (params, request) {
      const { uri: askedUri, inputResponses, requestState } = params
      const match = findAsked(askedUri, request)
      const { uri } = match
      const { mimeType, cache: ownCache, timeoutMs = dependencies.requestTimeoutMs } = match.resource
      // Contents that depend on the answers of a user must not be cached: the next read must ask again.
      const cache = inputResponses === undefined && requestState === undefined ? ownCache : UNCACHED
      return {
        // The template and not the URI: the variables in the URI are arguments, and the log has no arguments.
        subject: match.resource.key,
        limits: NO_LIMITS,
        callArguments: match.kind === 'resource'
          ? undefined
          : { rule: match.resource.audit, args: match.variables },
        handle () {
          const round = openRound(request, { method: METHOD, name: uri }, params)
          const context = new HandlerReadContext(request, round, dependencies, match.resource, uri)
          return runRound(request, round, timeoutMs, () => readMatch(match, context), (output) => {
            const { reads, writer } = request.snapshot
            const metadata = { uri, mimeType, cache }
            // The URIs of a template are too many to keep.
            const result = match.kind === 'resource'
              ? reads.write(output, metadata)
              : readResult(writer, output, metadata)
            if (result === undefined) throw resourceNotFound(askedUri)
            return result
          })
        },
        // The resource of a handle that the caller does not have does not exist for the caller.
        recover (error) {
          if (isHandleError(error)) throw resourceNotFound(askedUri)
          throw error instanceof ResourceTooLarge ? withDownload(error, match, request, dependencies) : error
        }
      }
    }
  })
}

/** Throws as `findResource` does. */
function findAsked (uri: string, request: RequestContext): ResourceMatch {
  try {
    return findResource(request.view, uri)
  } catch (error) {
    if (error instanceof ResourceNotFound) noteHidden(request, 'resource', uri)
    throw error
  }
}

/** A client can load a large file from a URL, but not from a message. */
function withDownload (
  error: ResourceTooLarge, match: ResourceMatch, { principal }: RequestContext,
  { files }: HandlerDependencies
): ResourceTooLarge {
  const bytes = match.kind === 'resource' ? match.resource.bytes : undefined
  const link = bytes && files?.linkTo(match.uri, bytes.size, principal)
  return link === undefined ? error : error.withLink(link)
}

/**
 * https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx#reading-directories
 */
export const resourcesDirectoryRead: Method = defineMethod({
  name: 'resources/directory/read',
  eras: ['modern'],
  params: Type.Object({ uri: Type.String(), cursor: Type.Optional(Type.String()) }),
  open ({ uri, cursor }, { view }) {
    const directory = view.skillDirectory(uri)
    if (directory === undefined) throw invalidParams(`${quote(uri)} is no directory of a skill`)
    return {
      subject: uri,
      handle () {
        const page = directory.page(cursor)
        if (page === undefined) throw invalidCursor()
        return page
      }
    }
  }
})
