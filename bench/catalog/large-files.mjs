// Large files among the resources of a catalog: texts as people write them, and random bytes.

import { randomFillSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const MIB = 2 ** 20
const LINE = 'A trivet stands on three legs, so it "never" wobbles.\tEin Dreifuß wackelt nicht. 五徳はぐらつかない。\n'

export const LARGE_FILES = [1, 5].flatMap((mebibytes) => ['text', 'binary'].map((kind) => {
  const file = `${kind}-${mebibytes}.${kind === 'text' ? 'txt' : 'bin'}`
  return { title: `${mebibytes} MiB, ${kind}`, kind, bytes: mebibytes * MIB, file, uri: `file:///${file}` }
}))

/** @param {string} folder the folder of the catalog */
export async function writeLargeFiles (folder) {
  for (const { kind, bytes, file } of LARGE_FILES) {
    await writeFile(join(folder, 'resources', file), randomContents(kind, bytes))
  }
}

/** @param {'text' | 'binary'} kind */
export function randomContents (kind, bytes) {
  if (kind === 'binary') return randomFillSync(Buffer.alloc(bytes))
  const line = Buffer.from(LINE)
  const lines = Buffer.alloc(bytes, '\n')
  for (let at = 0; at + line.length <= bytes; at += line.length) line.copy(lines, at)
  return lines
}
