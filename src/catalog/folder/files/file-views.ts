// The plain files and directories as callers see them: those of a caller without a scope are not there.

import { LRUCache } from 'lru-cache'
import {
  maySee, scopesToSee, toScopesKey, type Guarded, type IsGranted
} from '../../compiled/scopes/access-rule.ts'
import { holdsScope, type ScopeHierarchy } from '../../compiled/scopes/scope-hierarchy.ts'
import { findDirectories, type Directory } from './folder-files.ts'

interface GuardedFile extends Guarded { readonly path: string }

export interface FileView<F> {
  readonly isGranted: IsGranted
  /** The directories of the files that the caller sees, by path without a slash at its end. */
  readonly directories: ReadonlyMap<string, Directory<F>>
  /** The paths of all files and directories that the caller sees, those of directories with a slash. */
  readonly paths: readonly string[]
}

/** Above this number of scope sets the view of the least recently used one is dropped. */
const MAX_VIEWS = 16

/**
 * The views by the scopes that a caller was granted. A view is made for the first request that needs it, and
 * shared by all callers who see the same.
 */
export function createFileViews<F extends GuardedFile> (
  files: readonly F[], hierarchy: ScopeHierarchy
): (scopes: ReadonlySet<string>) => FileView<F> {
  const deciding = [...new Set(files.flatMap(scopesToSee))]
  const views = new LRUCache<string, Omit<FileView<F>, 'isGranted'>>({ max: MAX_VIEWS })
  return (scopes) => {
    const isGranted = (scope: string) => holdsScope(scopes, scope, hierarchy)
    const key = toScopesKey(deciding.filter(isGranted))
    let view = views.get(key)
    if (view === undefined) {
      const visible = files.filter((file) => maySee(file, isGranted))
      const directories = findDirectories(visible)
      view = { directories, paths: toPaths(visible, directories.keys()) }
      views.set(key, view)
    }
    return { ...view, isGranted }
  }
}

function toPaths (files: readonly GuardedFile[], directories: Iterable<string>): string[] {
  const inner = Array.from(directories).filter((path) => path !== '')
  return [...inner.map((path) => `${path}/`), ...files.map(({ path }) => path)].sort()
}
