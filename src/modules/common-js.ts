// The catalog's own CommonJS files. Node runs them; only its registry is made to forget them from graph to
// graph.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { initSync, parse } from 'cjs-module-lexer'

/** Later versions of Node give the namespace of a CommonJS module this name as well. */
const WHOLE = 'module.exports'

/** The names that Node finds in a CommonJS text without running it. */
export async function commonJsNames (file: string): Promise<Set<string>> {
  // Any package will do that is CommonJS.
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

/** What an earlier graph left in Node's registry may be edited since. */
export function forgetCommonJs (isOwn: (file: string) => boolean): void {
  const { cache } = createRequire(import.meta.url)
  for (const file of Object.keys(cache)) if (isOwn(file)) Reflect.deleteProperty(cache, file)
}
