// Modules inside of the measured build. The build is one bundle, so they are built once more, beside it.

import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const MODULES = [
  'platform/access/principal', 'platform/access/bearer-authenticator', 'platform/access/jwt-verifier',
  'platform/access/token-rules', 'platform/store/backends/memory/state-store',
  'platform/store/sealing/signing-keys', 'features/sign-in/grants/grant-records',
  'features/sign-in/grants/own-tokens', 'platform/author/tool-error', 'platform/store/backends/url-schemes',
  'request/questions/request-state', 'platform/schema/json-schema', 'platform/store/sealing/sealer',
  'platform/store/records/handles', 'platform/author/define-upstream', 'features/upstreams/upstreams',
  'features/upstreams/definition/compile-upstream', 'request/pipeline/upstream-calls',
  'request/pipeline/lifetime', 'features/metrics/upstream-metrics'
]
/** The folder of the built modules, by the entry file of the build. */
const built = new Map()

/**
 * @param {string} main the entry file of the measured build. Its sources are in `src` beside its folder.
 * @param {string} path one of the modules, relative to `src` and without an ending
 */
export async function importInner (main, path) {
  if (!built.has(main)) built.set(main, buildInner(dirname(main)))
  return await import(pathToFileURL(join(await built.get(main), `${path}.js`)))
}

/** In the folder of the build, so that packages are found. */
async function buildInner (folder) {
  const outdir = join(folder, 'inner-modules')
  const source = join(folder, '..', 'src')
  await build({
    entryPoints: MODULES.map((path) => join(source, `${path}.ts`)),
    outbase: source,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external'
  })
  return outdir
}
