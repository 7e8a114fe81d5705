// Finds the packages that a process has loaded, also those that the build has put into dist/chunks: the
// source map of a chunk names the files that are in it.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Prints the URL of each loaded module on a line. */
const HOOKS = `
  import { writeSync } from 'node:fs'
  export async function load (url, context, next) {
    writeSync(2, 'loaded ' + url + '\\n')
    return await next(url, context)
  }`
const toModule = (source) => `data:text/javascript,${encodeURIComponent(source)}`
/** A hook does not see what `require` loads. */
const REGISTRATION = `
  import { writeSync } from 'node:fs'
  import Module, { register } from 'node:module'
  const load = Module._load
  Module._load = function (request, ...rest) {
    writeSync(2, 'required ' + request + '\\n')
    return load.call(this, request, ...rest)
  }
  register(${JSON.stringify(toModule(HOOKS))})`

/** For the process whose packages shall be known. */
export const NODE_OPTIONS = `--import=${toModule(REGISTRATION)}`

/**
 * All files that a process has loaded, those of this repository as they are in `src`.
 * @param {string} stderr the standard error of the process
 */
export async function readLoadedFiles (stderr) {
  const urls = [...stderr.matchAll(/^loaded (file:\S+)$/gm)].map(([, url]) => url)
  const files = await Promise.all(urls.map((url) => sourcesOf(fileURLToPath(url))))
  return new Set(files.flat())
}

/** @param {string} stderr the standard error of the process */
export async function readLoadedPackages (stderr) {
  const required = stderr.matchAll(/^required ((?:@[^/\s]+\/)?[\w-][^/\s:]*)/gm)
  const packages = new Set([...required].map(([, name]) => name))
  for (const path of await readLoadedFiles(stderr)) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
    if (name !== undefined) packages.add(name)
  }
  return packages
}

async function sourcesOf (file) {
  const map = `${file}.map`
  if (file.includes('/node_modules/') || !existsSync(map)) return [file]
  return JSON.parse(await readFile(map, 'utf8')).sources
}
