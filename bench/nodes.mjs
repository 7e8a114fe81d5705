// The versions of Node that run the servers.

import { execFileSync } from 'node:child_process'

/**
 * @param {string[]} paths of executables. If empty, the running Node, and the Node of the variable BENCH_NODE
 *   if that is set
 * @returns {{ path: string, version: string }[]} `version`: such as `20.20.2`
 */
export function readNodes (paths) {
  const { BENCH_NODE = '' } = process.env
  const fallback = BENCH_NODE === '' ? [process.execPath] : [process.execPath, BENCH_NODE]
  return (paths.length > 0 ? paths : fallback).map((path) => ({ path, version: readVersion(path) }))
}

function readVersion (path) {
  try {
    return execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().slice(1)
  } catch (error) {
    throw new Error(`${path} is no Node that runs here: ${error.message.split('\n')[0]}`)
  }
}
