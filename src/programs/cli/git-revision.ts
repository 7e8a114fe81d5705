// A catalog as a revision of git has it, in a temporary folder.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../../base/words.ts'
import { CommandError, UsageError, type Surroundings } from './command.ts'

export interface CheckedOut {
  /** The folder of the catalog, in the temporary folder. */
  readonly folder: string
  remove (): Promise<void>
}

interface Revision { readonly name: string, readonly path: string }

/**
 * Checks out the whole repository: modules of the catalog may import files beside it. The working tree and
 * its index stay as they are, and its node_modules are used.
 * @param written a revision, or a revision and a folder with a colon between, such as `v1.2:catalog`.
 * @param catalog the folder for a revision alone.
 */
export async function checkOut (
  written: string, catalog: string, { environment }: Surroundings
): Promise<CheckedOut> {
  const git = async (folder: string, args: readonly string[], index?: string): Promise<string> => {
    const env = { ...environment, ...index !== undefined && { GIT_INDEX_FILE: index } }
    const { stdout } = await promisify(execFile)('git', ['-C', folder, ...args], { env })
    return stdout.trim()
  }
  const { name, path } = readRevision(written, catalog)
  const near = await realpath(await nearestFolder(path))
  const inRepository = async (args: readonly string[]) => await git(near, args).catch((error: Error) => {
    throw new UsageError(`${written} is no folder, no URL and no revision of git: ${lastLineOf(error)}`)
  })
  const commit = await inRepository(['rev-parse', '--verify', '--end-of-options', `${name}^{commit}`])
  const root = await inRepository(['rev-parse', '--show-toplevel'])
  const place = relative(root, join(near, relative(await nearestFolder(path), path)))
  const temporary = await mkdtemp(join(tmpdir(), 'trivet-revision-'))
  const remove = async () => await rm(temporary, { recursive: true, force: true })
  try {
    const [tree, index] = [join(temporary, 'tree'), join(temporary, 'index')]
    await mkdir(tree)
    await git(root, ['read-tree', commit], index)
    await git(root, ['checkout-index', '--all', '--quiet', `--prefix=${tree}/`], index)
    const folder = join(tree, place)
    if (!await isFolder(folder)) {
      throw new UsageError(`${name} has no folder ${place}; name one, as in ${name}:FOLDER`)
    }
    await linkPackages(root, tree, place)
    return { folder, remove }
  } catch (error) {
    await remove()
    if (error instanceof CommandError) throw error
    throw new CommandError('git', `${written} cannot be checked out: ${lastLineOf(error)}`)
  }
}

function readRevision (written: string, catalog: string): Revision {
  const at = written.indexOf(':')
  return at < 1
    ? { name: written, path: resolve(catalog) }
    : { name: written.slice(0, at), path: resolve(written.slice(at + 1)) }
}

/** The folder may be of the revision only. */
async function nearestFolder (path: string): Promise<string> {
  return await isFolder(path) || dirname(path) === path ? path : await nearestFolder(dirname(path))
}

async function isFolder (path: string): Promise<boolean> {
  return await stat(path).then((stats) => stats.isDirectory(), () => false)
}

/** Links the node_modules of the catalog's folder and of all folders above it, up to the root. */
async function linkPackages (root: string, tree: string, place: string): Promise<void> {
  const packages = join(root, place, 'node_modules')
  if (await isFolder(packages)) {
    // A revision that has packages itself, or has no such folder, needs none of them.
    await symlink(packages, join(tree, place, 'node_modules')).catch(() => {})
  }
  if (place !== '') await linkPackages(root, tree, dirname(place) === '.' ? '' : dirname(place))
}

function lastLineOf (error: unknown): string {
  return messageOf(error).trimEnd().split('\n').at(-1) ?? ''
}
