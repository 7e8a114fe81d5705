// Resolves specifiers as Node does. It also finds a TypeScript file by the name of its compiled file.

import { statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { moduleResolve } from 'import-meta-resolve'

/** The conditions of Node's `import`. */
const CONDITIONS = new Set(['node', 'import', 'module-sync', 'node-addons'])

export class Resolver {
  readonly #packages = new Map<string, string>()
  /** The URL of the package that the catalog is in, with a slash. The root if it is in none. */
  readonly #ownPackage: string

  /** @param root the folder of the catalog. */
  constructor (root: string) {
    const folder = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(root)?.[0] ?? ''
    this.#ownPackage = pathToFileURL(folder + sep).href
  }

  /** Returns a URL. The file of a relative specifier may not exist. Throws Node's errors for packages. */
  resolve (specifier: string, importerUrl: string): string {
    if (isBuiltin(specifier)) return specifier.startsWith('node:') ? specifier : `node:${specifier}`
    if (/^(?:\.\.?)?(?:\/|$)/.test(specifier)) return toSourceUrl(new URL(specifier, importerUrl))
    return URL.canParse(specifier)
      ? toSourceUrl(new URL(specifier))
      : this.#resolvePackage(specifier, importerUrl)
  }

  #resolvePackage (specifier: string, importerUrl: string): string {
    const key = `${dirname(importerUrl)} ${specifier}`
    const url = this.#packages.get(key) ?? moduleResolve(specifier, new URL(importerUrl), CONDITIONS).href
    this.#packages.set(key, url)
    return url
  }

  /** Whether the URL is of a file of the catalog, not of a package. */
  isOwn (url: string): boolean {
    if (!url.startsWith('file:')) return false
    // The catalog may itself be in a package, so the folders above that package do not count.
    const path = url.startsWith(this.#ownPackage) ? url.slice(this.#ownPackage.length - 1) : url
    return !path.includes('/node_modules/')
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
