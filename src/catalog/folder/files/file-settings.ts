// What holds for a plain file: its own sidecar, and those of the folders above it.

import type { ResourceOptions } from '../../../platform/author/define-resource.ts'
import type { WhenMissing } from '../../../platform/author/common-options.ts'
import type { Role } from '../../../platform/protocol/content.ts'
import type { CacheHints } from '../../../platform/protocol/primitives.ts'
import type { Static } from '../../../platform/schema/type.ts'
import type { fileSettings, folderSettings } from '../../compiled/definitions/definition-shapes.ts'

export type FileSidecar = Static<typeof fileSettings>
export type FolderSidecar = Static<typeof folderSettings>

/** What holds for a folder, and by default for all files below it. */
export interface FolderSettings {
  /** A caller needs those of all folders above a file, and those of the file. */
  readonly scopes: readonly string[]
  readonly whenMissing: WhenMissing | undefined
  readonly ttlMs: number
  /** The cache scope of files without scopes. Files with scopes have `private`. */
  readonly cacheScope: CacheHints['cacheScope']
  readonly audience: Role[] | undefined
}

/** The members of a plain file's definition that its place does not decide. */
export interface FileSettings extends Partial<Omit<ResourceOptions, 'uri' | 'size' | 'read'>> {
  readonly scopes: readonly string[]
  readonly cache: CacheHints
}

type ReportRule = (rule: string) => void

export function mergeFolder (above: FolderSettings, file: FolderSidecar, report: ReportRule): FolderSettings {
  const scopes = union(above.scopes, file.scopes)
  checkAccess(scopes, file, report)
  return {
    scopes,
    whenMissing: file.whenMissing ?? above.whenMissing,
    ttlMs: file.cache?.ttlMs ?? above.ttlMs,
    cacheScope: file.cache?.cacheScope ?? above.cacheScope,
    audience: file.annotations?.audience ?? above.audience
  }
}

export function mergeFile (folder: FolderSettings, file: FileSidecar, report: ReportRule): FileSettings {
  const { scopes: ownScopes, whenMissing = folder.whenMissing, cache, annotations, ...described } = file
  const scopes = union(folder.scopes, ownScopes)
  checkAccess(scopes, file, report)
  const { audience } = folder
  const all = { ...(audience !== undefined && { audience }), ...annotations }
  return {
    ...described,
    ...(Object.keys(all).length > 0 && { annotations: all }),
    ...(scopes.length > 0 && whenMissing !== undefined && { whenMissing }),
    scopes,
    cache: {
      ttlMs: cache?.ttlMs ?? folder.ttlMs,
      cacheScope: scopes.length > 0 ? 'private' : cache?.cacheScope ?? folder.cacheScope
    }
  }
}

function union (above: readonly string[], file: readonly string[] = []): readonly string[] {
  return file.length === 0 ? above : [...new Set([...above, ...file])]
}

function checkAccess (
  scopes: readonly string[], { whenMissing, cache }: Pick<FileSidecar, 'whenMissing' | 'cache'>,
  report: ReportRule
): void {
  if (scopes.length > 0) {
    if (cache?.cacheScope !== 'public') return
    report('cache.cacheScope: cannot be public, because scopes decide who may read this')
  } else if (whenMissing !== undefined) {
    // Without scopes everyone may read the file, which is not what the author expects.
    report('whenMissing: needs scopes, here or in the folder.meta.yaml of a folder above')
  }
}
