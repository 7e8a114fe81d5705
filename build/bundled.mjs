// The packages whose code is in dist/, each with its reason. Node loads all others from node_modules.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The reasons, by the name of a package or by a scope. */
const REASONS = new Map([
  ['@opentelemetry/', 'The SDK would install 11 packages of 16 MB, to export spans'],
  ['@preact/', 'Browsers run it'],
  ['@swc/wasm-typescript', 'A module has its WebAssembly as text, and takes 20 MiB more memory than a file'],
  ['eventsource-parser', 'Browsers run a copy'],
  ['preact', 'Browsers run it'],
  ['url-template', 'Browsers run a copy']
])
const FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

/**
 * Sorts the packages by their names. Rejects if the table does not fit.
 *
 * @param {readonly string[]} inputs the paths of the bundled files
 */
export async function listBundled (inputs) {
  const folders = [...new Set(inputs.flatMap((input) => FOLDER.exec(input) ?? []))]
  const packages = await Promise.all(folders.map(readBundled))
  const sorted = packages.toSorted((a, b) => a.name < b.name ? -1 : 1)
  const unused = [...REASONS].find(([, reason]) => !sorted.some((bundled) => bundled.reason === reason))
  if (unused !== undefined) throw new Error(`build/bundled.mjs has ${unused[0]}, which is not bundled`)
  return sorted
}

async function readBundled (folder) {
  const { name, version, license, author } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const reason = REASONS.get(name) ?? REASONS.get(name.replace(/[^/]+$/, ''))
  if (reason === undefined) {
    throw new Error(`${name} is bundled: make it a dependency, or give a reason in build/bundled.mjs`)
  }
  return { folder, name, version, license, author: author?.name ?? author, reason }
}
