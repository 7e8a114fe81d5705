// Finds and reads the resources of a catalog: for `resources/read`, for handlers that need a resource, and
// for links to its files.

import type { ReadContext } from '../../platform/author/context.ts'
import type { ResourceOutput } from '../../platform/author/define-resource.ts'
import { isHandleError } from '../../platform/author/handles.ts'
import { ToolError } from '../../platform/author/tool-error.ts'
import { BYTES_TYPE } from '../../base/media-types.ts'
import type { ResourceContents, ResourceLink } from '../../platform/protocol/content.ts'
import {
  ProtocolError, resourceNotFound, ResourceNotFound, ResourceTooLarge
} from '../../platform/protocol/errors.ts'
import type { Resource, ResourceTemplate } from '../../platform/protocol/primitives.ts'
import type { FileBytes, OpenedBytes } from '../../catalog/compiled/contents.ts'
import { toContents } from '../../catalog/compiled/results/read-result.ts'
import type { Snapshot } from '../../catalog/compiled/snapshot.ts'
import type { View } from '../../catalog/compiled/view.ts'
import type { ResourceMatch } from '../../catalog/compiled/resources/resource-lookup.ts'

/**
 * Throws ResourceNotFound for a resource that the caller does not see, and InsufficientScope for one that the
 * caller sees but may not use.
 */
export function findResource (view: View, uri: string): ResourceMatch {
  const match = view.resource(uri)
  if (match === undefined || match.isShadowed) throw resourceNotFound(uri)
  return match
}

/** Calls the `read` of the definition. */
export function readMatch (match: ResourceMatch, ctx: ReadContext): ResourceOutput | Promise<ResourceOutput> {
  return match.kind === 'resource' ? match.resource.read(ctx) : match.resource.read(match.variables, ctx)
}

/**
 * Reads a resource for a handler. Rejects with a ToolError where a client would learn that the resource does
 * not exist or is too large, and with InsufficientScope as `findResource` does.
 * @param openContext makes the context of the read.
 */
export async function readContents (
  view: View, givenUri: string, openContext: (match: ResourceMatch) => ReadContext
): Promise<readonly ResourceContents[]> {
  try {
    const match = findResource(view, givenUri)
    const { uri, resource: { mimeType } } = match
    const output = await readMatch(match, openContext(match))
    if (output === undefined) throw resourceNotFound(givenUri)
    // A handler may change what it gets. The service goes on to use it.
    return toContents(output, { uri, mimeType }).map((part) => ({ ...part }))
  } catch (error) {
    throw toHandlerError(error, givenUri)
  }
}

/**
 * Makes a link with the members of the entry in `resources/list`, or of the template. A link tells nothing of
 * what exists: a template's link to a hidden resource is the one to a missing resource. Throws as above if
 * the caller sees neither a resource nor a template.
 */
export function toResourceLink (view: View, givenUri: string): ResourceLink {
  try {
    const match = view.resource(givenUri)
    if (match === undefined) throw resourceNotFound(givenUri)
    const { uri, resource, isShadowed } = match
    const listed = isShadowed ? undefined : view.listed(uri)
    const { uriTemplate, ...entry }: Resource & Partial<ResourceTemplate> = JSON.parse(
      (listed ?? resource).json
    )
    return { type: 'resource_link', ...entry, uri }
  } catch (error) {
    throw toHandlerError(error, givenUri)
  }
}

/** Returns a ToolError where the handler, or the model that called it, can name another resource. */
function toHandlerError (error: unknown, uri: string): unknown {
  const cause = isHandleError(error) ? resourceNotFound(uri) : error
  return cause instanceof ResourceNotFound || cause instanceof ResourceTooLarge
    ? new ToolError(cause.message)
    : cause
}

/** Returns `undefined` for a resource that is no file, or that the caller may not use. Never throws. */
export function findBytes (view: View, uri: string): FileBytes | undefined {
  try {
    const match = findResource(view, uri)
    return match.kind === 'resource' ? match.resource.bytes : undefined
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

/**
 * Opens a file of the catalog for a caller with these scopes. `undefined` if there is no such file for the
 * caller any more.
 */
export async function openCatalogFile (snapshot: Snapshot, uri: string, granted: readonly string[]) {
  const view = snapshot.view({ scopes: new Set(granted) })
  const bytes = findBytes(view, uri)
  const file = await bytes?.open()
  if (bytes === undefined || file === undefined) return undefined
  const { size, modifiedMs } = file
  return {
    name: bytes.name,
    mimeType: view.resource(uri)?.resource.mimeType ?? BYTES_TYPE,
    size,
    etag: `"${size.toString(36)}-${Math.floor(modifiedMs).toString(36)}"`,
    read: async (range?: Parameters<OpenedBytes['read']>[0]) => file.read(range),
    async has () {
      file.close()
      return true
    }
  }
}
