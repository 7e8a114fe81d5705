// The service that agents and libraries call, and how npm installs them.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CATALOG = fileURLToPath(new URL('catalog', import.meta.url))

/** Installs packages into a folder of their own. */
export async function install (folder, packages) {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{}')
  const args = ['install', '--no-audit', '--no-fund', '--silent', ...packages]
  const npm = spawn('npm', args, { cwd: folder, stdio: 'inherit' })
  const [code] = await once(npm, 'close')
  if (code !== 0) throw new Error(`npm cannot install ${packages}`)
  return join(folder, 'node_modules')
}

/** @param {{ place: string, build: string, tools?: number, verbose?: boolean }} options */
export async function startService ({ place, build, tools = 0, verbose = false }) {
  const catalog = join(place, 'catalog')
  await cp(CATALOG, catalog, { recursive: true })
  const words = Array.from({ length: 500 }, (_, index) => `i${String(index).padStart(4, '0')}`)
  await writeFile(join(catalog, 'server.yaml'), `name: agents\ninstructions: ${words.join(' ')}.\n`)
  for (let index = 0; index < tools; index++) {
    await writeFile(join(catalog, 'tools', `more_${index}.js`), `import { defineTool } from 'trivet'
export default defineTool({
  name: 'more_${index}', description: 'Does more of number ${index}.', run: () => 'more'
})
`)
  }
  const port = await findPort()
  const child = spawn(process.execPath, [join(build, 'dist', 'main.js')], {
    cwd: place,
    env: {
      PATH: process.env.PATH, TRIVET_CATALOG: catalog, PORT: String(port), TRIVET_STATE_URL: 'memory:'
    },
    stdio: ['ignore', verbose ? 'inherit' : 'ignore', 'inherit']
  })
  const url = `http://127.0.0.1:${port}`
  while (!await fetch(`${url}/readyz`).then(({ ok }) => ok, () => false)) {
    if (child.exitCode !== null) throw new Error('the service ended before it was ready')
    await pause(100)
  }
  return Object.assign(child, { url: `${url}/mcp` })
}

async function findPort () {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
