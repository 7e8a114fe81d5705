// The directories that files lie in.

export interface Directory<F> {
  /** The files directly in it. */
  readonly files: readonly F[]
  /** The paths of the directories directly in it. */
  readonly directories: readonly string[]
}

/**
 * By path, without a slash at its end. The path of the folder itself is empty.
 * @param files their paths are relative to the folder.
 */
export function findDirectories<F extends { readonly path: string }> (
  files: readonly F[]
): ReadonlyMap<string, Directory<F>> {
  const found = new Map<string, { readonly files: F[], readonly directories: string[] }>()
  function open (path: string): { readonly files: F[], readonly directories: string[] } {
    const known = found.get(path)
    if (known !== undefined) return known
    const opened = { files: [], directories: [] }
    found.set(path, opened)
    if (path !== '') open(parentOf(path)).directories.push(path)
    return opened
  }
  for (const file of files) open(parentOf(file.path)).files.push(file)
  return found
}

/** The path of the directory that a path lies in. Empty for the folder itself. */
export function parentOf (path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
