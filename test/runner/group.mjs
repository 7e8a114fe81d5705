// node --import=./test/runner/register.mjs test/runner/group.mjs FILE...
//
// Runs several test files in one process, one after the other. Loading tap and the app takes more CPU time
// than most files need for their tests.

import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import t from 'tap'

const files = process.argv.slice(2)
// tap names the folder of a fixture after the script: groups may run beside each other.
process.argv.splice(1, 1)

for (const file of files) {
  t.comment(file)
  await import(pathToFileURL(file).href)
  if (!t.idle) await once(t, 'idle')
}
