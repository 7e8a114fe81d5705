// Where a specifier leads: as in Node, and by the names that TypeScript gives to what it compiles.

import { statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { moduleResolve } from 'import-meta-resolve'

export interface Resolver {
  /**
   * The URL. A relative specifier need not lead to a file. Throws as Node does where there is no such
   * package.
   */
  resolve (specifier: string, importerUrl: string): string
  /** Whether a URL is of a file that belongs to the catalog, and not to a package. */
  isOwn (url: string): boolean
}

/** Those that Node's `import` uses. */
const CONDITIONS = new Set(['node', 'import', 'module-sync', 'node-addons'])

/** @param root the folder of the catalog. */
export function createResolver (root: string): Resolver {
  const packages = new Map<string, string>()
  const ownPackage = pathToFileURL(
    /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(root)?.[0] ?? sep
  ).href

  function resolvePackage (specifier: string, importerUrl: string): string {
    const key = `${dirname(importerUrl)} ${specifier}`
    const known = packages.get(key) ?? moduleResolve(specifier, new URL(importerUrl), CONDITIONS).href
    packages.set(key, known)
    return known
  }

  return {
    resolve (specifier, importerUrl) {
      if (isBuiltin(specifier)) return specifier.startsWith('node:') ? specifier : `node:${specifier}`
      if (/^(?:\.\.?)?(?:\/|$)/.test(specifier)) return writtenUrl(new URL(specifier, importerUrl))
      return URL.canParse(specifier) ? writtenUrl(new URL(specifier)) : resolvePackage(specifier, importerUrl)
    },
    isOwn (url) {
      if (!url.startsWith('file:')) return false
      // A catalog may itself lie in a package: the folders above it say nothing of its files.
      const within = url.startsWith(`${ownPackage.replace(/\/$/, '')}/`) ? url.slice(ownPackage.length) : url
      return !within.includes('/node_modules/')
    }
  }
}

/** TypeScript lets a source file be imported by the name of what it compiles to. */
function writtenUrl (url: URL): string {
  if (url.protocol !== 'file:' || isFile(url)) return url.href
  const written = new URL(url)
  written.pathname = url.pathname.replace(/\.([cm]?)js(x?)$/, '.$1ts$2')
  if (isFile(written)) return written.href
  written.pathname = url.pathname.replace(/\.js$/, '.tsx')
  return isFile(written) ? written.href : url.href
}

function isFile (url: URL): boolean {
  return statSync(fileURLToPath(url), { throwIfNoEntry: false })?.isFile() === true
}
