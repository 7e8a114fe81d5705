// The command `trivet init`: writes a catalog that works, to begin with.

import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { makeFolder } from '../../base/file-system.ts'
import { messageOf } from '../../base/words.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { CommandError, toJsonText, UsageError, type AddCommand } from './command.ts'
import { EXTENDED, initialFiles } from './initial-files.ts'

interface InitFlags { readonly js?: boolean, readonly json?: boolean }

export const initCommand: AddCommand = (program, { out, dependency }) => {
  program.command('init')
    .description('write a catalog with a tool, a prompt, a resource and a test')
    .argument('[folder]', 'a new folder, or a project that gets a catalog', '.')
    .option('--js', 'JavaScript instead of TypeScript')
    .option('--json', 'print the written files as JSON')
    .action(async (folder: string, { js = false, json = false }: InitFlags) => {
      const root = resolve(folder)
      const manifest = readManifest(await readOwn(root, 'package.json'))
      const ignored = await readOwn(root, '.gitignore') ?? ''
      const keepsType = manifest.type !== 'module' && await hasScripts(root)
      const files = initialFiles({
        name: toPackageName(basename(root)), dependency, js, manifest, ignored, keepsType
      })
      await assertNew(root, files.map(([path]) => path))
      for (const [path, text] of files) await write(join(root, path), text)
      if (json) return out(toJsonText({ folder: root, files: files.map(([path]) => path) }))
      const paths = files.map(([path]) => `  ${join(folder, path)}`).join('\n')
      const enter = folder === '.' ? '' : `cd ${quoteForShell(folder)} && `
      // A script runs the installed command. `npx` would get a missing one from the registry.
      out(`Written:\n${paths}\n\nNext: ${enter}npm install && npm run dev\n`)
    })
}

async function write (file: string, text: string): Promise<void> {
  try {
    makeFolder(dirname(file))
    await writeFile(file, text)
  } catch (error) {
    throw new CommandError('file', `${file} cannot be written: ${messageOf(error)}`)
  }
}

/** The text of a file that is extended. `undefined` if there is none. */
async function readOwn (root: string, path: typeof EXTENDED[number]): Promise<string | undefined> {
  return await readFile(join(root, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    const reason = error.code === 'ENOTDIR' ? 'it is a file' : error.message
    throw new UsageError(`${root} cannot be used: ${reason}`)
  })
}

/** Whether the project has files that the `type` of its package.json gives a meaning. */
async function hasScripts (folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const { name } = entry
    if (entry.isFile() && /(?<!\.d)\.[jt]sx?$/.test(name)) return true
    const isOwn = entry.isDirectory() && name !== 'node_modules' && !name.startsWith('.')
    if (isOwn && await hasScripts(join(folder, name))) return true
  }
  return false
}

function readManifest (text = '{}'): { readonly [member: string]: unknown } {
  try {
    const manifest: unknown = JSON.parse(text)
    if (isObject(manifest)) return manifest
  } catch {}
  throw new UsageError('package.json is no JSON object. Correct it, or name a new folder')
}

/** All other files must not be there, nor must a file stand where a folder is needed. */
async function assertNew (root: string, paths: readonly string[]): Promise<void> {
  const extended: readonly string[] = EXTENDED
  const isThere = await Promise.all(paths.map(async (path) => (
    !extended.includes(path) && await stat(join(root, path)).then(() => true, isInTheWay)
  )))
  const existing = paths.filter((_, index) => isThere[index])
  if (existing.length === 0) return
  throw new UsageError(`${root} has ${existing.join(', ')} already. Move them away, or name a new folder`)
}

function isInTheWay (error: NodeJS.ErrnoException): boolean {
  return error.code !== 'ENOENT'
}

function quoteForShell (text: string): string {
  return /^[\w./\\:~-]+$/.test(text) ? text : JSON.stringify(text)
}

/** The names of packages have no capitals, spaces and other such characters. */
function toPackageName (folder: string): string {
  return folder.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-').replaceAll(/^[._-]+|-+$/g, '') || 'my-catalog'
}
