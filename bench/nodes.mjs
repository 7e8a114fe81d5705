// The Nodes that the servers are run on.

import { execFileSync } from 'node:child_process'

/**
 * @param {string[]} paths of executables; none means our own, and that of the variable BENCH_NODE where it is set
 * @returns {{ path: string, version: string }[]} `version`: such as `20.20.2`
 */
export function readNodes (paths) {
  const fromVariable = process.env.BENCH_NODE === undefined || process.env.BENCH_NODE === '' ? [] : [process.env.BENCH_NODE]
  return (paths.length > 0 ? paths : [process.execPath, ...fromVariable]).map((path) => ({ path, version: readVersion(path) }))
}

function readVersion (path) {
  try {
    return execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().slice(1)
  } catch (error) {
    throw new Error(`${path} is no Node that runs here: ${error.message.split('\n')[0]}`)
  }
}
