// The catalog's own CommonJS files. Node runs them; only its registry is made to forget them from graph to graph.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import * as anyCommonJs from '@swc/wasm-typescript'
import { initSync, parse } from 'cjs-module-lexer'

/** Whether Node gives a CommonJS module's namespace this name, as later versions do. */
const WHOLE = 'module.exports'
const hasWhole = WHOLE in anyCommonJs

/** The names that Node finds in a CommonJS text without running it. */
export function commonJsNames (file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set()
  seen.add(file)
  initSync()
  const { exports, reexports } = parse(readFileSync(file, 'utf8'), file)
  const require = createRequire(file)
  const passedOn = reexports.flatMap((specifier) => [...commonJsNames(require.resolve(specifier), seen)])
  return new Set([...exports, ...passedOn, 'default', ...(hasWhole ? [WHOLE] : [])])
}

export function evaluateCommonJs (file: string, names: Iterable<string>): Map<string, unknown> {
  const whole: unknown = createRequire(file)(file)
  const isObject = (typeof whole === 'object' && whole !== null) || typeof whole === 'function'
  const values = new Map<string, unknown>()
  for (const name of names) if (isObject && Object.hasOwn(whole, name)) values.set(name, Reflect.get(whole, name))
  for (const name of ['default', ...(hasWhole ? [WHOLE] : [])]) values.set(name, whole)
  return values
}

/** What an earlier graph left in Node's registry may be edited since. */
export function forgetCommonJs (isOwn: (file: string) => boolean): void {
  const { cache } = createRequire(import.meta.url)
  for (const file of Object.keys(cache)) if (isOwn(file)) Reflect.deleteProperty(cache, file)
}
