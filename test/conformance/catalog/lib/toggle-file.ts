import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Removes the file if it is there, else puts it there whole: whoever watches the folder never sees half of
 * it.
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
