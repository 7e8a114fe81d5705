// The catalog's own CommonJS files. Node runs them. Each graph first removes them from Node's registry, so
// that edited files run again.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initSync, parse } from 'cjs-module-lexer'

/** Later versions of Node add an export of this name to the namespace of a CommonJS module. */
const WHOLE = 'module.exports'

/** The names that Node finds in a CommonJS text without running it. */
export async function commonJsNames (file: string): Promise<Set<string>> {
  // The namespace of any CommonJS package shows whether this version of Node adds the name.
  const anyPackage = await import('esbuild')
  initSync()
  return new Set([...writtenNames(file, new Set()), 'default', ...(WHOLE in anyPackage ? [WHOLE] : [])])
}

function writtenNames (file: string, seen: Set<string>): string[] {
  if (seen.has(file)) return []
  seen.add(file)
  const { exports, reexports } = parse(readFileSync(file, 'utf8'), file)
  const require = createRequire(file)
  return [...exports, ...reexports.flatMap((specifier) => writtenNames(require.resolve(specifier), seen))]
}

export function evaluateCommonJs (file: string, names: Iterable<string>): Map<string, unknown> {
  const whole: unknown = createRequire(file)(file)
  const hasMembers = (typeof whole === 'object' && whole !== null) || typeof whole === 'function'
  return new Map([...names].map((name) => {
    if (name === 'default' || name === WHOLE) return [name, whole]
    return [name, hasMembers && Object.hasOwn(whole, name) ? Reflect.get(whole, name) : undefined]
  }))
}

/** The files in Node's registry. */
export function loadedCommonJs (isOwn: (file: string) => boolean): string[] {
  return Object.keys(createRequire(import.meta.url).cache).filter(isOwn)
}

/** Removes the files from Node's registry: they may have been edited since an earlier graph loaded them. */
export function forgetCommonJs (isOwn: (file: string) => boolean): void {
  const { cache } = createRequire(import.meta.url)
  for (const file of loadedCommonJs(isOwn)) Reflect.deleteProperty(cache, file)
}
