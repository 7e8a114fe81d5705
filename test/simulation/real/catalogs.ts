// The two releases of the catalog as folders: the first lacks the tool `later`, and has other code of the
// tool `strict`. See releases.ts.

import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('../catalog', import.meta.url))
const LATER = /^export const later = .*\n/m
const STRICT = "name: 'strict', onDeploy: 'fail'"

/** Writes a release to a folder, in place of the one that is there. */
export async function writeRelease (folder: string, release: 0 | 1): Promise<void> {
  await cp(FOLDER, folder, { recursive: true })
  if (release === 1) return
  const file = join(folder, 'tools/jobs.ts')
  const text = await readFile(file, 'utf8')
  if (!LATER.test(text) || !text.includes(STRICT)) throw new Error('the catalog lacks later or strict')
  await writeFile(file, text.replace(LATER, '').replace(STRICT, `${STRICT}, title: 'Other code'`))
}
