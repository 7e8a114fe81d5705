// Makes dist/ from what the compiler wrote there: declarations, one module for each entry, the chunks that
// they share, the page of the console, and the list and the licences of the packages in them.

import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { build } from 'esbuild'
import { builtChecks } from './built-checks.mjs'
import { listBundled } from './bundled.mjs'
import { joinSmallChunks } from './chunks.mjs'
import { requireCommonJs } from './common-js.mjs'
import { bundleConsole } from './console.mjs'
import { rollDeclarations } from './declarations.mjs'
import { writeLicences } from './licences.mjs'
import { manifest, MODULES } from './modules.mjs'
import { writeSbom } from './sbom.mjs'

const FOLDER = MODULES.outdir

/** A module lacks `require`. */
const REQUIRE = "import{createRequire as requireIn}from'node:module';" +
  'const require=requireIn(import.meta.url);'

/** Puts WebAssembly, which a package has as base64 in its module, into a file. It loads in half the time. */
const wasmFile = {
  name: 'wasm-file',
  setup ({ onLoad }) {
    onLoad({ filter: /wasm-typescript\/wasm\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const [expression, base64] = /Buffer\.from\('([\w+/=]+)', *'base64'\)/.exec(text)
      await mkdir(`${FOLDER}/chunks`, { recursive: true })
      await writeFile(`${FOLDER}/chunks/typescript.wasm`, Buffer.from(base64, 'base64'))
      const bytes = "require('fs').readFileSync(require.resolve(String('./typescript.wasm')))"
      return { contents: text.replace(expression, bytes) }
    })
  }
}

// launch.ts fills it, with the code of files that are gone.
await rm('.compile-cache', { recursive: true, force: true })
// The first step of `npm run build` writes it.
const { mtime } = await stat(`${FOLDER}/begin`)
await rollDeclarations(FOLDER)
const { metafile } = await build(await joinSmallChunks({
  ...MODULES,
  chunkNames: 'chunks/[name]-[hash]',
  sourcemap: true,
  plugins: [wasmFile, builtChecks, requireCommonJs(MODULES.external)],
  banner: { js: REQUIRE }
}))
const page = await bundleConsole(`${FOLDER}/console`)
const packages = await listBundled([...Object.keys(metafile.inputs), ...page])
await writeLicences(packages, `${FOLDER}/THIRD-PARTY.md`)
const sbom = `${FOLDER}/sbom.cdx.json`
await writeSbom(manifest, packages, sbom)
// A source that was edited since the build began is newer than this file: the tests then build again.
await utimes(sbom, mtime, mtime)
