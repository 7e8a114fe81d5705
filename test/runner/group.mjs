// node --import=./test/runner/register.mjs test/runner/group.mjs [FILE...]
//
// Runs test files in one process, one after the other: each FILE, or what the runner names on descriptor 3.
// Loading tap and the app takes more CPU time than most files need for their tests. Each file has a subtest
// as its root test: what it tears down or adds as a hook ends with it.

import { AsyncLocalStorage } from 'node:async_hooks'
import { register } from 'node:module'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { readChildrenSeconds } from './cpu.mjs'
import { files, roots } from './group-roots.mjs'
import { replaceTime } from '../../src/base/time.ts'
import t from 'tap'

register('./group-loader.mjs', import.meta.url)
// A file has a time limit, all of them together have none.
t.setTimeout(0)

const storages = new Set()
for (const name of ['run', 'enterWith']) {
  const method = AsyncLocalStorage.prototype[name]
  AsyncLocalStorage.prototype[name] = function (...args) {
    storages.add(this)
    return method.apply(this, args)
  }
}

/** In Node 20 and 22 each storage that was used makes every promise of the process slower. */
function disableStorages () {
  for (const storage of storages) storage.disable()
  storages.clear()
}

/** Brings the time of the system back, for a file after one that has replaced it for good. */
const restoreTime = replaceTime({})

/** Runs a file, and resolves to its counts and costs. */
async function run (path) {
  const [cpuSeconds, begin] = [readCpuSeconds(), Date.now()]
  let counts
  await t.test(path, async (root) => {
    const url = pathToFileURL(resolve(path)).href
    counts = root.counts
    roots.set(url, root)
    await import(url)
  })
  disableStorages()
  restoreTime()
  if (counts.total === 0) t.fail(`${path} has no test`)
  return {
    passed: counts.pass,
    failed: counts.total === 0 ? 1 : counts.fail,
    skipped: counts.skip,
    seconds: (Date.now() - begin) / 1000,
    cpuSeconds: readCpuSeconds() - cpuSeconds,
    bytes: process.memoryUsage.rss()
  }
}

/** Reads the CPU seconds of this process, and of the children that it has waited for. */
function readCpuSeconds () {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + readChildrenSeconds()
}

for (const path of files) await run(path)

if (files.length === 0) {
  const channel = new Socket({ fd: 3 })
  for await (const path of createInterface({ input: channel })) {
    channel.write(`${JSON.stringify(await run(path))}\n`)
  }
  channel.destroy()
}
