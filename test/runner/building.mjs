// dist/ is built before tests, unless nothing that it is made from has changed since.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from './needs.mjs'

const FOLDERS = ['src', 'build']
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
/** What the build writes last. */
const LAST = 'dist/THIRD-PARTY.md'

/** A folder changes when a file of it is removed. */
function listPaths () {
  const inside = FOLDERS.flatMap((folder) => [
    folder, ...readdirSync(join(PROJECT, folder), { recursive: true }).map((path) => join(folder, path))
  ])
  return [...inside, ...FILES]
}

const timeOf = (path) => statSync(join(PROJECT, path)).mtimeMs

export function buildIfStale () {
  if (existsSync(join(PROJECT, LAST)) && listPaths().every((path) => timeOf(path) < timeOf(LAST))) return
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: PROJECT, stdio: 'inherit' })
}
