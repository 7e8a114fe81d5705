// The options of esbuild for the modules of the service, without the files that it writes.

import { readFile } from 'node:fs/promises'

export const manifest = JSON.parse(await readFile('package.json', 'utf8'))

/** @satisfies {import('esbuild').BuildOptions} */
export const MODULES = {
  entryPoints: ['launch', 'main', 'index', 'testing'].map((name) => `src/${name}.ts`),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  outdir: 'dist',
  external: Object.keys(manifest.dependencies),
  metafile: true,
  logLevel: 'warning',
  logOverride: { 'unsupported-dynamic-import': 'silent' }
}
