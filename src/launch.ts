#!/usr/bin/env node
// Begins the process with the check of Node's version. An older Node cannot link the modules of the service,
// and would print the stack of its loader.

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
// Node 20 has no cache of compiled code. The cache is in the package: a user who writes there could change
// the code too. Node starts without a cache if the folder cannot be written.
const enableCompileCache: unknown = Reflect.get(nodeModule, 'enableCompileCache')
if (typeof enableCompileCache === 'function') {
  Reflect.apply(enableCompileCache, undefined, [fileURLToPath(new URL('../.compile-cache', import.meta.url))])
}
await import('./main.ts')
