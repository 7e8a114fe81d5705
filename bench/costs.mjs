// What each production dependency costs: its size, the time to load it, and whether a service loads it at its
// start. Prints a table in Markdown. Run it with `npm run costs`.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bytesOf } from './comparison/install.mjs'
import { percentile } from './figures/stats.mjs'
import { NODE_OPTIONS, readLoadedPackages } from './loaded-packages.mjs'
import { workspacePath } from './workspace.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ROUNDS = 5
/** Packages with nothing to load but types. */
const TYPES_ONLY = new Set(['@standard-schema/spec'])

const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))

/** The paths of all installed packages that the dependencies need. */
function reach (names) {
  const reached = new Set()
  const visit = (from, name) => {
    const path = findInstalled(from, name)
    if (path === undefined || reached.has(path)) return
    reached.add(path)
    const { dependencies = {}, optionalDependencies = {} } = packages[path]
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) visit(path, next)
  }
  for (const name of names) visit('', name)
  return reached
}

/** Looks where Node looks. Packages for other systems are in the lock file and not installed. */
function findInstalled (from, name) {
  for (let folder = from; ;) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in packages && existsSync(join(ROOT, path))) return path
    if (folder === '') return undefined
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  }
}

async function bytesAlone (path) {
  const nested = await bytesOf(join(ROOT, path, 'node_modules')).catch(() => 0)
  return await bytesOf(join(ROOT, path)).catch(() => 0) - nested
}

/** In milliseconds of CPU. */
async function loadTime (name) {
  const code = `const from = process.cpuUsage(); await import('${name}'); const { user, system } = ` +
    'process.cpuUsage(from); console.log((user + system) / 1000); process.exit()'
  const times = []
  for (let round = 0; round < ROUNDS; round++) {
    const args = ['--input-type=module', '-e', code]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
    times.push(Number(stdout.trim().split('\n').at(-1)))
  }
  return percentile(times.toSorted((a, b) => a - b), 0.5)
}

async function loadedAtStart () {
  const catalog = workspacePath('catalog')
  await mkdir(join(catalog, 'tools'), { recursive: true })
  await writeFile(join(catalog, 'tools/hello.js'), "import { defineTool } from 'trivet'\n" +
    "export default defineTool({ name: 'hello', run: () => 'hello' })\n")
  const child = spawn(process.execPath, [join(ROOT, 'dist/main.js'), 'serve', catalog], {
    env: { PATH: process.env.PATH, PORT: '0', TRIVET_STATE_URL: 'memory:', NODE_OPTIONS }
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => { stderr += text })
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  await once(child, 'close')
  return await readLoadedPackages(stderr)
}

const names = Object.keys(dependencies)
const started = await loadedAtStart()
const rows = []
for (const name of names) {
  const others = reach(names.filter((other) => other !== name))
  const own = [...reach([name])].filter((path) => !others.has(path))
  const sizes = await Promise.all(own.map(bytesAlone))
  rows.push({
    name,
    packages: own.length,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    ms: TYPES_ONLY.has(name) ? undefined : await loadTime(name),
    isStarted: started.has(name)
  })
}
console.log('| Package | MB | Packages that only it brings | CPU to load, ms | At the start |')
console.log('| --- | --- | --- | --- | --- |')
for (const { name, packages, bytes, ms, isStarted } of rows.toSorted((a, b) => b.bytes - a.bytes)) {
  const time = ms?.toFixed(0) ?? 'types only'
  const cells = [`\`${name}\``, (bytes / 1e6).toFixed(1), packages, time, isStarted ? 'yes' : '']
  console.log(`| ${cells.join(' | ')} |`)
}
