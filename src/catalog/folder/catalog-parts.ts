// Decides which files of the catalog folder are part of the catalog. Tools may keep other files in the
// folder, and authors name more in `watchIgnore` of server.yaml: a change of these reloads nothing.

import { basename } from 'node:path'
import type { Matcher } from 'picomatch'
import { isForeignName } from './files/folder-files.ts'
import { readServerSettings, SERVER_FILE } from './server-yaml.ts'

const CODE = /\.[cm]?[jt]sx?$/
/** Databases and logs change while they are used. */
const WRITTEN_IN_USE = /\.sqlite|\.db$|-wal$|-shm$|\.log$/

const TEST = /\.(?:test|spec)\.[^/]+$/
const RESOURCE_CODE = /\.resource\.(?:[^/]+\.)?[cm]?[jt]sx?$/

/**
 * Whether the name of a file says that it is a test, such as `search.test.ts` or `search.spec.mjs`. Tests are
 * never loaded, so that they can stand beside their tools. Under resources/ only modules count:
 * `book.resource.test.ts` is a test, `openapi.spec.json` is a plain file. Under skills/ nothing is a test.
 * @param path relative to the catalog folder, with forward slashes
 */
export function isTest (path: string): boolean {
  return TEST.test(path) && !path.startsWith('skills/') &&
    (!path.startsWith('resources/') || RESOURCE_CODE.test(path))
}

const README = /^readme(?:\.(?:md|markdown|txt|rst))?$/i

/** Whether the name of a file in tools/ or prompts/ says that it is for people who read the folder. */
export function isReadme (path: string): boolean {
  return README.test(basename(path))
}

/** Whether changes of a file or folder never count, wherever it is. The name is without its folders. */
export function isNeverPart (name: string): boolean {
  return isForeignName(name) || WRITTEN_IN_USE.test(name)
}

/**
 * Whether a folder that appears or disappears as a whole may hold parts of the catalog.
 * @param path relative to the catalog folder, with forward slashes
 * @param imported the paths of the files that modules of the catalog import
 */
export function mayHoldParts (path: string, imported: ReadonlySet<string>): boolean {
  return /^(?:tools|prompts|resources|skills|apps)(?:\/|$)/.test(path) ||
    [...imported].some((file) => file.startsWith(`${path}/`))
}

/**
 * @param path relative to the catalog folder, with forward slashes
 * @param imported the paths of the files that modules of the catalog import
 */
export function isPart (path: string, imported: ReadonlySet<string>): boolean {
  if (path.split('/').some(isNeverPart)) return false
  if (imported.has(path)) return true
  if (isTest(path)) return false
  if (path === SERVER_FILE || /^(?:resources|skills|apps)\//.test(path)) return true
  if (path.startsWith('prompts/') && path.endsWith('.md')) return !isReadme(path)
  // In every folder: a module may be the file that a failed import looks for.
  return CODE.test(basename(path))
}

export class IgnoredPaths {
  /** A text that changes with the globs. */
  key = ''
  #matches: Matcher | undefined

  /** @param path relative to the catalog folder, with forward slashes. */
  has (path: string): boolean {
    return this.#matches?.(path) === true
  }

  /** Replaces the globs from before. */
  async set (globs: readonly string[]): Promise<void> {
    const key = globs.join('\n')
    if (key === this.key) return
    // Only catalogs with globs load the library.
    const { default: picomatch } = await import('picomatch')
    // `data/**` also matches the folder itself: nobody then looks into it.
    this.#matches = globs.length === 0 ? undefined : picomatch([...globs], { dot: true })
    this.key = key
  }
}

/** The globs before the first load. A file with a problem has none: the load reports it. */
export async function readIgnored (root: string): Promise<readonly string[]> {
  return await readServerSettings(root).then(({ watchIgnore }) => watchIgnore, () => [])
}
