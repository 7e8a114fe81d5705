// Loads packages in CommonJS by `require`. For an `import` Node reads the whole text of the package first, to
// find the names of its exports, and the hooks of many instrumentations do not see it.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NAMESPACE = 'common-js'
/** Their modules import the CommonJS that they have too. */
const BOTH = ['commander', 'eslint-scope', 'pg', 'safe-stable-stringify']

/** @param {readonly string[]} packages the names of those that are not bundled */
export function requireCommonJs (packages) {
  return {
    name: NAMESPACE,
    setup ({ onResolve, onLoad }) {
      onResolve({ filter: /^[@a-z]/ }, ({ path, kind }) => {
        const isPackage = packages.some((name) => path === name || path.startsWith(`${name}/`))
        if (!isPackage || kind !== 'import-statement' || !isCommonJs(path)) return undefined
        return { path, namespace: NAMESPACE }
      })
      onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => (
        { contents: `module.exports = require(${JSON.stringify(path)})` }
      ))
    }
  }
}

/** Whether an `import` gets CommonJS. */
function isCommonJs (path) {
  if (BOTH.includes(path)) return true
  const file = fileURLToPath(import.meta.resolve(path))
  if (extname(file) !== '.js') return extname(file) === '.cjs'
  let folder = dirname(file)
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).type !== 'module'
}
