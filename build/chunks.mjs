// Joins small chunks. esbuild makes a chunk for each set of entries that share modules: a start would load 68
// files with 300 imports between them, which Node takes 40 ms of CPU to resolve. It loads 20.

import { readFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { build } from 'esbuild'

/** The entries that a start of the service loads. */
const STARTED = ['src/main.ts', 'src/programs/cli/program.ts', 'src/app/app.ts']
/** These run where no service does: before the check of Node's version, and beside workers. */
const LEAN = ['src/launch.ts', 'src/main.ts', 'src/programs/process/parent.ts']
/** A module waits for it while it loads: one that imports that module would wait for itself. */
const AWAITED = ['src/edges/http/server-response.ts']
/** A larger chunk stays apart. */
const MAX_BYTES = 50_000
const JOINED = 'joined-modules'

/**
 * Makes options whose build has fewer chunks: every other entry imports all modules of the small chunks, so
 * that all of these have one set of entries.
 *
 * @param {import('esbuild').BuildOptions} options
 * @returns {Promise<import('esbuild').BuildOptions>}
 */
export async function joinSmallChunks (options) {
  const { metafile: { outputs } } = await build({ ...options, write: false, metafile: true })
  const entries = Object.values(outputs).flatMap(({ entryPoint = '' }) => entryPoint)
  const isApart = (entry) => LEAN.includes(entry) || AWAITED.includes(entry)
  const importing = new Set(entries.filter((entry) => entry.startsWith('src/') && !isApart(entry)))
  const contents = findSmall(outputs).map((module) => `import ${JSON.stringify(`./${module}`)}`).join('\n')
  const plugin = {
    name: JOINED,
    setup ({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^${JOINED}$`) }, ({ path }) => ({ path, namespace: JOINED }))
      onLoad({ filter: /./, namespace: JOINED }, () => ({ contents, resolveDir: resolve('.') }))
      onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
        if (!importing.has(relative('.', path))) return undefined
        // On the first line: the numbers of the lines stay.
        return { contents: `import '${JOINED}'; ${await readFile(path, 'utf8')}`, loader: 'ts' }
      })
    }
  }
  return { ...options, plugins: [...options.plugins ?? [], plugin] }
}

/** The modules of the small shared chunks that a start loads. */
function findSmall (outputs) {
  const isStarted = ([, { entryPoint }]) => STARTED.includes(entryPoint)
  const files = new Set(Object.entries(outputs).filter(isStarted).map(([file]) => file))
  for (const file of files) {
    const imports = outputs[file]?.imports ?? []
    for (const { path, kind } of imports) if (kind === 'import-statement') files.add(path)
  }
  return [...files].map((file) => outputs[file])
    .filter((output) => output !== undefined && output.entryPoint === undefined && output.bytes < MAX_BYTES)
    .flatMap(({ inputs }) => Object.keys(inputs))
    .filter((module) => module.startsWith('src/'))
}
