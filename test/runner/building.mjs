// dist/ is built before tests, unless nothing that it is made from has changed since.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from './needs.mjs'

const FOLDERS = ['src', 'build']
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
/** The build writes it last, and gives it the time at which the build began. */
const BUILT = 'dist/sbom.cdx.json'

/** A folder changes when a file of it is removed. */
function listPaths (project) {
  const inside = FOLDERS.flatMap((folder) => [
    folder, ...readdirSync(join(project, folder), { recursive: true }).map((path) => join(folder, path))
  ])
  return [...inside, ...FILES]
}

export function buildIfStale (project = PROJECT) {
  const timeOf = (path) => statSync(join(project, path)).mtimeMs
  const isBuilt = existsSync(join(project, BUILT))
  if (isBuilt && listPaths(project).every((path) => timeOf(path) < timeOf(BUILT))) return
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: project, stdio: 'inherit' })
}
