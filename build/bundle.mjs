// Makes dist/ from what the compiler wrote there: declarations, one module for each entry, the chunks that
// they share, the page of the console, and the licences of the packages in them. A bundled package is a
// development dependency: installed packages have it once, in the chunks.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { build } from 'esbuild'
import { builtChecks } from './built-checks.mjs'
import { joinSmallChunks } from './chunks.mjs'
import { bundleConsole } from './console.mjs'
import { rollDeclarations } from './declarations.mjs'
import { writeLicences } from './licences.mjs'

const FOLDER = 'dist'

/** These have native code or a program, or are drivers, which an operator may instrument. */
const EXTERNAL = ['esbuild', 'ioredis', 'lmdb', 'pg']

/** Packages in CommonJS call `require`, which a module lacks. */
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

await rollDeclarations(FOLDER)
const { metafile } = await build(await joinSmallChunks({
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
  plugins: [wasmFile, builtChecks],
  banner: { js: REQUIRE },
  logLevel: 'warning',
  logOverride: { 'unsupported-dynamic-import': 'silent' }
}))
const page = await bundleConsole(`${FOLDER}/console`)
await writeLicences([...Object.keys(metafile.inputs), ...page], `${FOLDER}/THIRD-PARTY.md`)
