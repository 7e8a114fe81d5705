// Gives handlers their files. The code and the storage are loaded by the first use.

import type { FileAccess } from '../../request/pipeline/seams.ts'
import { fileOwnerOf } from './accounts.ts'
import type { FileRoom } from './file-room.ts'
import type { Links } from './links.ts'

interface FileAccessDependencies {
  readonly links: Links
  /** Opens the storage, if it is not open yet. */
  openRoom (): Promise<FileRoom>
  /** The largest file of the catalog that is part of a result, in bytes. */
  readonly maxEmbeddedBytes: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** How long the link to a file of the catalog works, in milliseconds. */
const CATALOG_LINK_MS = 86_400_000

export function createFileAccess (
  { links, openRoom, maxEmbeddedBytes, now }: FileAccessDependencies
): FileAccess {
  return {
    open: (client) => ({
      async put (source, options = {}) {
        const { putFile } = await import('./handler-files.ts')
        return await putFile(await openRoom(), client, source, options)
      },
      async upload (options) {
        const { askForFile } = await import('./handler-files.ts')
        return await askForFile(await openRoom(), client, options)
      }
    }),
    linkTo (uri, size, principal) {
      if (size <= maxEmbeddedBytes || !knowsUrl(links)) return undefined
      const [owner, scopes] = [fileOwnerOf(principal), [...principal.scopes]]
      return links.seal({ kind: 'catalog', owner, uri, scopes }, now() + CATALOG_LINK_MS)
    }
  }
}

function knowsUrl (links: Links): boolean {
  try {
    links.findUrl()
    return true
  } catch {
    return false
  }
}
