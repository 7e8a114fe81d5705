// The packages whose code is in dist/, each with its reason. Node loads all others from node_modules.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The reasons, by the name of a package or by a scope, and the rooms that import them. */
const REASONS = new Map([
  ['@opentelemetry/', {
    reason: 'The SDK would install 11 packages of 16 MB, to export spans', room: 'features/tracing'
  }],
  ['@preact/', { reason: 'Browsers run it', room: 'edges/console' }],
  ['@swc/wasm-typescript', {
    reason: 'A module has its WebAssembly as text, and takes 20 MiB more memory than a file',
    room: 'platform/modules'
  }],
  ['eventsource-parser', { reason: 'Browsers run a copy', room: 'edges/console' }],
  ['preact', { reason: 'Browsers run it', room: 'edges/console' }],
  ['url-template', { reason: 'Browsers run a copy', room: 'edges/console' }]
])
const FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

/**
 * Sorts the packages by their names. Rejects if the table does not fit the rooms that there are.
 *
 * @param {readonly string[]} inputs the paths of the bundled files
 */
export async function listBundled (inputs) {
  const folders = [...new Set(inputs.flatMap((input) => FOLDER.exec(input) ?? []))]
  const packages = await Promise.all(folders.map(readBundled))
  const unused = [...REASONS].find(([key, { room }]) => (
    existsSync(`src/${room}`) && !packages.some(({ name }) => findKey(name) === key)
  ))
  if (unused !== undefined) throw new Error(`build/bundled.mjs has ${unused[0]}, which is not bundled`)
  return packages.toSorted((a, b) => a.name < b.name ? -1 : 1)
}

/** Returns the name or the scope that has a reason. */
const findKey = (name) => [name, name.replace(/[^/]+$/, '')].find((key) => REASONS.has(key))

async function readBundled (folder) {
  const { name, version, license, author } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const { reason } = REASONS.get(findKey(name)) ?? {}
  if (reason === undefined) {
    throw new Error(`${name} is bundled: make it a dependency, or give a reason in build/bundled.mjs`)
  }
  return { folder, name, version, license, author: author?.name ?? author, reason }
}
