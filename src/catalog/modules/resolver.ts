// Resolves specifiers as Node does. It also finds a TypeScript file by the name of its compiled file.

import { statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { moduleResolve } from 'import-meta-resolve'

export interface Resolver {
  /** The URL. The file of a relative specifier may not exist. Throws the errors of Node for packages. */
  resolve (specifier: string, importerUrl: string): string
  /** Whether the URL is of a file of the catalog, not of a package. */
  isOwn (url: string): boolean
}

/** The conditions of Node's `import`. */
const CONDITIONS = new Set(['node', 'import', 'module-sync', 'node-addons'])

/** @param root the folder of the catalog. */
export function createResolver (root: string): Resolver {
  const packages = new Map<string, string>()
  const ownPackage = pathToFileURL(
    /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(root)?.[0] ?? sep
  ).href

  function resolvePackage (specifier: string, importerUrl: string): string {
    const key = `${dirname(importerUrl)} ${specifier}`
    const url = packages.get(key) ?? moduleResolve(specifier, new URL(importerUrl), CONDITIONS).href
    packages.set(key, url)
    return url
  }

  return {
    resolve (specifier, importerUrl) {
      if (isBuiltin(specifier)) return specifier.startsWith('node:') ? specifier : `node:${specifier}`
      if (/^(?:\.\.?)?(?:\/|$)/.test(specifier)) return toSourceUrl(new URL(specifier, importerUrl))
      return URL.canParse(specifier)
        ? toSourceUrl(new URL(specifier))
        : resolvePackage(specifier, importerUrl)
    },
    isOwn (url) {
      if (!url.startsWith('file:')) return false
      // The catalog may itself be in a package, so the folders above that package do not count.
      const within = url.startsWith(`${ownPackage.replace(/\/$/, '')}/`) ? url.slice(ownPackage.length) : url
      return !within.includes('/node_modules/')
    }
  }
}

/** TypeScript allows importing a source file by the name of its compiled file. */
function toSourceUrl (url: URL): string {
  if (url.protocol !== 'file:' || isFile(url)) return url.href
  const source = new URL(url)
  source.pathname = url.pathname.replace(/\.([cm]?)js(x?)$/, '.$1ts$2')
  if (isFile(source)) return source.href
  source.pathname = url.pathname.replace(/\.js$/, '.tsx')
  return isFile(source) ? source.href : url.href
}

function isFile (url: URL): boolean {
  return statSync(fileURLToPath(url), { throwIfNoEntry: false })?.isFile() === true
}
