// Creates folders and reads files where Node's own functions may never return.

import { mkdirSync, readFileSync, statSync, type Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from './words.ts'

/**
 * Creates a folder with its parents. Does nothing for one that exists. Throws if it cannot be created.
 * Returns the outermost folder that was created, or `undefined`. Node's own `recursive` never returns where a
 * file system has the parent and still says ENOENT, as /proc does.
 */
export function makeFolder (path: string, mode?: number): string | undefined {
  try {
    return makeOne(path, mode)
  } catch (error) {
    const parent = dirname(path)
    if (parent === path || codeOf(error) !== 'ENOENT') throw error
    const outermost = makeFolder(parent, mode)
    const innermost = makeOne(path, mode)
    return outermost ?? innermost
  }
}

function makeOne (path: string, mode: number | undefined): string | undefined {
  try {
    mkdirSync(path, mode)
    return path
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error
    return undefined
  }
}

/** Reads a whole file. Rejects for a named pipe. */
export async function readPlainFile (path: string): Promise<Buffer> {
  assertNoPipe(await stat(path))
  return await readFile(path)
}

/** Reads a whole file as text, and blocks the thread. Throws for a named pipe. */
export function readTextSync (path: string): string {
  assertNoPipe(statSync(path))
  return readFileSync(path, 'utf8')
}

/** Opening a pipe waits for its writer, without a limit. Even the end of the process waits for that. */
function assertNoPipe (facts: Stats): void {
  if (facts.isFIFO()) throw new Error('expected a file, got a named pipe')
}
