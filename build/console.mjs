// Bundles the page of the console for browsers: dist/console/.

import { existsSync } from 'node:fs'
import { build } from 'esbuild'

const SOURCE = 'src/edges/console/page'

/** Returns the paths of the bundled files: none if the room was deleted. @param {string} folder is written */
export async function bundleConsole (folder) {
  if (!existsSync(SOURCE)) return []
  const { metafile } = await build({
    entryPoints: ['page.tsx', 'page.css', 'index.html'].map((name) => `${SOURCE}/${name}`),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    charset: 'utf8',
    loader: { '.html': 'copy' },
    // The licences are in THIRD-PARTY.md.
    legalComments: 'none',
    outdir: folder,
    metafile: true,
    logLevel: 'warning'
  })
  return Object.keys(metafile.inputs)
}
