#!/usr/bin/env node
// Begins the process with the check of Node's version. An older Node cannot link the modules of the service,
// and would print the stack of its loader.

const LEAST = [20, 19]

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const [leastMajor = 0, leastMinor = 0] = LEAST
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  const version = `${process.versions.node} (${process.execPath})`
  process.stderr.write(`Trivet needs Node ${LEAST.join('.')} or later, and this is ${version}\n`)
  process.exit(1)
}
await import('./main.ts')
