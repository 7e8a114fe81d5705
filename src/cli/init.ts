// The command `trivet init`: writes a catalog that works, to begin with.

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { messageOf } from '../base/words.ts'
import { CommandError, toJsonText, UsageError, type AddCommand } from './command.ts'
import { initialFiles } from './initial-files.ts'

interface InitFlags { readonly js?: boolean, readonly json?: boolean }

export const initCommand: AddCommand = (program, { out, dependency }) => {
  program.command('init')
    .description('write a catalog with a tool, a prompt, a resource and a test')
    .argument('[folder]', 'a new or empty folder', '.')
    .option('--js', 'JavaScript instead of TypeScript')
    .option('--json', 'print the written files as JSON')
    .action(async (folder: string, { js = false, json = false }: InitFlags) => {
      const root = resolve(folder)
      await assertEmpty(root)
      const files = initialFiles({ name: toPackageName(basename(root)), dependency, js })
      for (const [path, text] of files) await write(join(root, path), text)
      if (json) return out(toJsonText({ folder: root, files: files.map(([path]) => path) }))
      const paths = files.map(([path]) => `  ${join(folder, path)}`).join('\n')
      const enter = folder === '.' ? '' : `cd ${folder} && `
      out(`Written:\n${paths}\n\nNext: ${enter}npm install && npx trivet dev\n`)
    })
}

async function write (file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    throw new CommandError('file', `${file} cannot be written: ${messageOf(error)}`)
  }
}

/** Hidden files, such as those of git, may be there. */
async function assertEmpty (root: string): Promise<void> {
  const entries = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    const reason = error.code === 'ENOTDIR' ? 'it is a file' : error.message
    throw new UsageError(`${root} cannot be used: ${reason}`)
  })
  const first = entries.find((entry) => !entry.startsWith('.'))
  if (first !== undefined) throw new UsageError(`${root} is not empty: it has ${first}. Name a new folder`)
}

/** The names of packages have no capitals, spaces and other such characters. */
function toPackageName (folder: string): string {
  return folder.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-').replaceAll(/^[._-]+|-+$/g, '') || 'my-catalog'
}
