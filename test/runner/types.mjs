// Takes the types out of tests and sources, as Node itself does from version 22.18 on. Blanks replace them:
// lines and columns stay. The results are cached on disk: every test is a process of its own, and most of
// them load the whole app.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const PROJECT = new URL('../../', import.meta.url)
const { version } = require('@swc/wasm-typescript/package.json')
const CACHE = fileURLToPath(new URL(`node_modules/.cache/trivet-types/${version}/`, PROJECT))
const DOMAINS = new URL('domains.mjs', import.meta.url).href
const { paths } = JSON.parse(readFileSync(new URL('tsconfig.json', PROJECT), 'utf8')).compilerOptions
const urls = new Map(Object.entries(paths).map(([name, [path]]) => [name, new URL(path, PROJECT).href]))

mkdirSync(CACHE, { recursive: true })

const isOurs = (url) => url?.startsWith(PROJECT.href) === true && !url.includes('/node_modules/')

export async function resolve (specifier, context, nextResolve) {
  if (specifier === 'async-hook-domain') return { url: DOMAINS, format: 'module', shortCircuit: true }
  if (!isOurs(context.parentURL)) return await nextResolve(specifier, context)
  if (urls.has(specifier)) return { url: urls.get(specifier), format: 'module', shortCircuit: true }
  // The file system is not asked: a file that is missing is noticed when it is loaded.
  if (/^\.\.?\/.*\.ts$/.test(specifier)) {
    return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true }
  }
  return await nextResolve(specifier, context)
}

/** A module without a namespace of all names: Node would look for them in 4 MB of text, for 40 ms. */
const TYPESCRIPT = "import{createRequire}from'node:module';" +
  "export default createRequire(import.meta.url)('./wasm.js')"

/** Escapes messages as tap does. Its parser passes over a message that has another end of a line. */
const ESCAPING = 'export const esc = (text) => ' +
  String.raw`text.replace(/[\u2028\u2029]/g, ' ').replace(/\\/g, '\\\\').replace(/#/g, '\\#')`

/**
 * fast-check looks for the letters of a few ASCII texts in each alphabet. It makes a map of all letters for
 * that: a million for Unicode, which take a second, and 140 MB from then on. The first of each range suffice.
 */
function limitAlphabets (source) {
  return source.replace(
    /(for \(let idxInEntry = 0; idxInEntry !== )entry\.num(; \+\+idxInEntry\) \{[^}]*?)\+\+choiceIndex;\s*\}/,
    '$1Math.min(entry.num, 128)$2++choiceIndex }\nchoiceIndex += Math.max(entry.num - 128, 0)'
  )
}

export async function load (url, context, nextLoad) {
  if (url.endsWith('/fast-check/lib/fast-check.js')) {
    const source = limitAlphabets(readFileSync(fileURLToPath(url), 'utf8'))
    return { format: 'module', source, shortCircuit: true }
  }
  if (url.endsWith('/@tapjs/core/dist/esm/esc.js')) {
    return { format: 'module', source: ESCAPING, shortCircuit: true }
  }
  if (url.endsWith('/@swc/wasm-typescript/wasm.js')) {
    return { format: 'module', source: TYPESCRIPT, shortCircuit: true }
  }
  if (!url.endsWith('.ts') || !isOurs(url)) return await nextLoad(url, context)
  // Read at once: Node's own loader opens the file, asks for its size, reads and closes it on another thread.
  const path = fileURLToPath(url)
  return { format: 'module', source: stripTypes(readFileSync(path), path), shortCircuit: true }
}

function stripTypes (source, filename) {
  const path = CACHE + createHash('sha256').update(source).digest('hex')
  const cached = readCache(path)
  if (cached !== undefined) return cached
  const { transformSync } = require('@swc/wasm-typescript')
  const { code } = transformSync(String(source), { filename, mode: 'strip-only', module: true })
  // Several processes may write the same file, and others read it.
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, code)
  renameSync(unfinished, path)
  return code
}

function readCache (path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}
