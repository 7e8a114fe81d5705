// A plugin of esbuild. Compiles the service's own formats with ajv, and puts the code of their checks in the
// place of src/platform/schema/built-checks.ts.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { _ } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { build, transform } from 'esbuild'

/** Exports what finds and compiles the formats. */
const SOURCES = `
export { createApp } from './src/app/app.ts'
export { createInstances, OWN_FORMATS, SCOPE } from './src/platform/schema/ajv-instances.ts'
export { formats } from './src/platform/schema/built-checks.ts'
export { withCosts } from './src/platform/schema/check-cost.ts'
`

/** Notes the format of each check that the service creates. */
const NOTES = `
export const formats = new Set()
export const createBuiltChecks = () => ({ get (json) { formats.add(json) } })
`

/** @param {() => string | Promise<string>} write the code of the module */
const asModule = (write) => ({
  name: 'built-checks',
  setup ({ onLoad }) {
    onLoad({ filter: /schema\/built-checks\.ts$/ }, async () => ({ contents: await write(), loader: 'js' }))
  }
})

let module
/** Several builds share the module. */
export const builtChecks = asModule(async () => {
  module ??= compileFormats()
  return await module
})

async function compileFormats () {
  const folder = await mkdtemp('dist/formats-')
  try {
    await build({
      stdin: { contents: SOURCES, resolveDir: '.' },
      outdir: folder,
      bundle: true,
      // A package that is imported late is not loaded here.
      splitting: true,
      keepNames: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'error',
      plugins: [asModule(() => NOTES)]
    })
    const sources = await import(pathToFileURL(`${folder}/stdin.js`))
    await mkdir(`${folder}/tools`)
    const app = await sources.createApp({ catalog: folder, stateUrl: 'memory:', logLevel: 'error' })
    await app.close()
    return await writeChecks(sources.formats, sources)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** @param {Iterable<string>} formats the schemas as JSON */
export async function writeChecks (formats, { createInstances, OWN_FORMATS, SCOPE, withCosts }) {
  const code = { ...OWN_FORMATS.code, source: true, optimize: true, formats: _`formats` }
  const ajv = createInstances({ ...OWN_FORMATS, code })('2020-12')
  // The texts of problems would be half of the code.
  ajv.addKeyword({ keyword: 'silent', before: '$dynamicAnchor', code ({ it }) { it.createErrors = false } })
  const names = [...formats].map((json, index) => {
    ajv.addSchema({ silent: true, ...withCosts(JSON.parse(json)) }, `check${index}`)
    return [json, `check${index}`]
  })
  const checks = standaloneCode(ajv, Object.fromEntries(names.map(([, name]) => [name, name])))
  const entries = names.map(([json, name]) => `[${JSON.stringify(json)}, exports.${name}]`)
  const module = `export function createBuiltChecks ({ ${Object.keys(SCOPE)} }) {
    const exports = {}
    ${checks}
    return new Map([${entries}])
  }`
  return (await transform(module, { minify: true })).code
}
