// node --import=./test/runner/register.mjs test/runner/group.mjs FILE...
//
// Runs several test files in one process, one after the other. Loading tap and the app takes more CPU time
// than most files need for their tests. Each file has a subtest as its root test: what it tears down or adds
// as a hook ends with it.

import { register } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { files, roots } from './group-roots.mjs'
import t from 'tap'

register('./group-loader.mjs', import.meta.url)

for (const path of files) {
  t.test(path, async (root) => {
    const url = pathToFileURL(resolve(path)).href
    roots.set(url, root)
    await import(url)
  })
}
