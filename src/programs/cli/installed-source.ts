// How a package.json names this package, so that `npm install` gets what runs now, and nothing that somebody
// else may have published under its name.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isObject } from '../../platform/protocol/json-rpc.ts'

const OF_REGISTRY = /^https?:\/\/[^/]+\/.*\/-\/[^/]+\.tgz$/

/**
 * Returns a range for a package that came from a registry, and the file, the repository or the folder of any
 * other.
 * @param folder of the package, with a separator at its end.
 */
export function readSource (folder: string, version: string): string {
  const [, root = '', name = ''] = /^(.*)[\\/]node_modules[\\/]([^\\/]+)[\\/]$/.exec(folder) ?? []
  const resolved = readResolved(root, name)
  if (resolved === undefined) return `file:${folder}`
  if (OF_REGISTRY.test(resolved)) return `^${version}`
  const [, file] = /^file:(.+)/.exec(resolved) ?? []
  return file === undefined ? resolved : `file:${resolve(root, file)}`
}

/** What npm has written about the package that it installed. `undefined` for other installers. */
function readResolved (root: string, name: string): string | undefined {
  try {
    const { packages }: { readonly packages: unknown } =
      JSON.parse(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8'))
    const entry = isObject(packages) ? packages[`node_modules/${name}`] : undefined
    return isObject(entry) && typeof entry.resolved === 'string' ? entry.resolved : undefined
  } catch {
    return undefined
  }
}
