// Makes dist/ from what the compiler wrote there: declarations, one module for each entry, the chunks that
// they share, the page of the console, and the licences of the packages in them. A bundled package is a
// development dependency: installed packages have it once, in the chunks.

import { build } from 'esbuild'
import { bundleConsole } from './console.mjs'
import { rollDeclarations } from './declarations.mjs'
import { writeLicences } from './licences.mjs'

const FOLDER = 'dist'

/** These have native code, WebAssembly or a program, or are drivers, which an operator may instrument. */
const EXTERNAL = ['esbuild', 'ioredis', 'lmdb', 'pg', '@swc/wasm-typescript']

/** Packages in CommonJS call `require`, which a module lacks. */
const REQUIRE = "import{createRequire as requireIn}from'node:module';" +
  'const require=requireIn(import.meta.url);'

await rollDeclarations(FOLDER)
const { metafile } = await build({
  entryPoints: ['launch', 'main', 'index', 'testing'].map((name) => `src/${name}.ts`),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  outdir: FOLDER,
  chunkNames: 'chunks/[name]-[hash]',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
  external: EXTERNAL,
  banner: { js: REQUIRE },
  logLevel: 'warning',
  logOverride: { 'unsupported-dynamic-import': 'silent' }
})
const page = await bundleConsole(`${FOLDER}/console`)
await writeLicences([...Object.keys(metafile.inputs), ...page], `${FOLDER}/THIRD-PARTY.md`)
