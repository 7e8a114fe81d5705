import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Removes the file if it exists. Otherwise adds it with one rename: a watcher of the folder never sees a part
 * of it.
 */
export async function toggleFile (path: string, text: string): Promise<'added' | 'removed'> {
  if (await removed(path)) return 'removed'
  const draft = join(dirname(path), `.${basename(path)}`)
  await writeFile(draft, text)
  await rename(draft, path)
  return 'added'
}

async function removed (path: string): Promise<boolean> {
  return rm(path).then(() => true, (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return false
    throw error
  })
}
