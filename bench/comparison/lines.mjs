// Counts what an author writes. A line counts if it is neither empty nor only a comment. The package.json is
// left out, and so is resources/: both are the same work with every contender.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LEFT_OUT = /(?:^|\/)(?:package\.json|resources\/.*)$/
const TEST = /\.test\.js$/
const NO_CODE = /^\s*(?:\/\/.*)?$/

/** @returns {Promise<{ files: number, lines: number, testLines: number }>} `files` has the tests too */
export async function countLines (folder) {
  const root = fileURLToPath(new URL(folder, import.meta.url))
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const counted = files.filter((file) => !LEFT_OUT.test(file.slice(root.length + 1)))
  const count = { files: counted.length, lines: 0, testLines: 0 }
  for (const file of counted) {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => !NO_CODE.test(line)).length
    count[TEST.test(file) ? 'testLines' : 'lines'] += lines
  }
  return count
}
