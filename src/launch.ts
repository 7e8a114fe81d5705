#!/usr/bin/env node
// Begins the process with the check of Node's version. An older Node cannot link the modules of the service,
// and would print the stack of its loader.

import { lstatSync, mkdirSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

const LEAST = [20, 19]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const [leastMajor = 0, leastMinor = 0] = LEAST
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  const version = `${process.versions.node} (${process.execPath})`
  process.stderr.write(`Trivet needs Node ${LEAST.join('.')} or later, and this is ${version}\n`)
  process.exit(1)
}
// Node 20 has no cache of compiled code. Node starts without a cache if the folder cannot be written.
const enableCompileCache: unknown = Reflect.get(nodeModule, 'enableCompileCache')
const cache = fileURLToPath(new URL('../.compile-cache', import.meta.url))
if (typeof enableCompileCache === 'function' && isSafe(cache)) {
  Reflect.apply(enableCompileCache, undefined, [cache])
}

/** Creates the folder, and returns whether only this user and root can write there: the code in it runs. */
function isSafe (folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch {
    // It is there already, or the package cannot be written.
  }
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (stats?.isDirectory() !== true) return false
  const user = process.getuid?.()
  return user === undefined || ([0, user].includes(stats.uid) && (stats.mode & 0o022) === 0)
}

await import('./main.ts')
