// Finds the files among the resources of a catalog, for those who send them in parts.

import { ProtocolError } from '../../../protocol/errors.ts'
import { findResource } from '../resources/resource-access.ts'
import type { Snapshot } from '../snapshot.ts'
import type { View } from '../view.ts'
import { BYTES_TYPE } from './media-type.ts'
import type { FileBytes, OpenedBytes } from './opened-bytes.ts'

/** `undefined` for a resource that is no file, and for one that the caller may not use. Never throws. */
export function findBytes (view: View, uri: string): FileBytes | undefined {
  try {
    const found = findResource(view, uri)
    return found.kind === 'resource' ? found.resource.bytes : undefined
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
  const opened = await bytes?.open()
  if (bytes === undefined || opened === undefined) return undefined
  const { size, modifiedMs } = opened
  return {
    name: bytes.name,
    mimeType: view.resource(uri)?.resource.mimeType ?? BYTES_TYPE,
    size,
    etag: `"${size.toString(36)}-${Math.floor(modifiedMs).toString(36)}"`,
    read: async (range?: Parameters<OpenedBytes['read']>[0]) => opened.read(range),
    async has () {
      opened.close()
      return true
    },
    close: opened.close
  }
}
