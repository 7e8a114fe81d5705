// Creates a folder with its parents. Node's own `recursive` never returns where a file system has the parent
// and still says ENOENT, as /proc does.

import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from './words.ts'

/**
 * Does nothing for a folder that exists. Throws if it cannot be created. Returns the outermost folder that
 * was created, or `undefined`.
 */
export function makeFolder (path: string, mode?: number): string | undefined {
  try {
    return makeOne(path, mode)
  } catch (error) {
    const parent = dirname(path)
    if (parent === path || codeOf(error) !== 'ENOENT') throw error
    const outermost = makeFolder(parent, mode)
    const made = makeOne(path, mode)
    return outermost ?? made
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
