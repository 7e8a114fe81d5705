// Installs contenders in folders of their own, with npm.

import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { workspacePath } from '../workspace.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const QUIET = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
const TIMEOUT_MS = 600_000

export async function run (command, args, cwd) {
  return await promisify(execFile)(command, args, { cwd, timeout: TIMEOUT_MS })
}

/** Packs Trivet as npm would publish it. @returns {Promise<string>} the path of the package */
export async function packTrivet () {
  const folder = workspacePath('packed')
  await mkdir(folder)
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], ROOT)
  const [file] = await readdir(folder)
  return join(folder, file)
}

/** A copy of the contender's shop, with nothing installed. */
export async function copyShop ({ folder }, tarball) {
  const path = workspacePath(folder)
  await cp(fileURLToPath(new URL(folder, import.meta.url)), path, { recursive: true })
  await pointToPackage(path, tarball)
  return path
}

/** npm may not have this version of Trivet: the package.json then names the packed one. */
export async function pointToPackage (folder, tarball) {
  const file = join(folder, 'package.json')
  const manifest = JSON.parse(await readFile(file, 'utf8'))
  if (manifest.dependencies.trivet === undefined) return
  manifest.dependencies.trivet = `file:${tarball}`
  await writeFile(file, JSON.stringify(manifest))
}

/**
 * Installs what production needs, and measures it.
 *
 * @returns {Promise<{ packages: number, bytes: number }>}
 */
export async function installProduction (folder) {
  await run('npm', ['install', '--omit=dev', ...QUIET], folder)
  const modules = join(folder, 'node_modules')
  const { packages } = JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8'))
  return { packages: Object.keys(packages).length, bytes: await bytesOf(modules) }
}

export async function installAll (folder) {
  await run('npm', ['install', ...QUIET], folder)
}

/** The bytes of all files below a folder. */
export async function bytesOf (folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(entries.filter((entry) => entry.isFile()).map(
    async ({ parentPath, name }) => (await stat(join(parentPath, name))).size
  ))
  return sizes.reduce((sum, size) => sum + size, 0)
}
