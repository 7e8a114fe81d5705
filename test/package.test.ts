// The package as npm packs it: installed in an empty folder it is a command, a library, and types.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  chmod, copyFile, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile
} from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { publint } from 'publint'
import t, { type Test } from 'tap'
import { cpuMs, HAS_PROC, residentBytes } from '../bench/servers/process-figures.mjs'
import { readAllPages, resolveLink } from './docs/pages.ts'
import { makeFolder } from './helpers/folder.ts'
import { startService } from './helpers/service.ts'
import { post } from './helpers/stream.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { PATH = '', HOME = '', NODE_EXTRA_CA_CERTS = '' } = process.env
// The packages were just installed for this machine, so npm has them. The other versions of Node it fetches
// from the registry, whose certificate the machine may know by a file of its own.
const env = { PATH, HOME, NODE_EXTRA_CA_CERTS, npm_config_prefer_offline: 'true' }
const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund']

/** The other versions of Node that the README names. The version of this process comes first. */
const OTHER_NODES = ['20.20.2', '22.23.3', '24.21.0'].filter(
  (version) => !process.version.startsWith(`v${version.slice(0, 3)}`)
)

/** All that npm installs. esbuild and lmdb are half of it. */
const MOST_BYTES = 75e6
/** To the first answer of the example: the CPU time of the process, and its resident memory. */
const MOST_START = { cpuMs: 750, residentBytes: 125 * 2 ** 20 }
/** A busy machine makes a start cost more: the cheapest counts. */
const STARTS = 5

async function bytesOf (folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const facts = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))))
  return facts.reduce((sum, { size }) => sum + size, 0)
}

async function start (command: string, args: readonly string[], cwd: string, path = env.PATH) {
  return await promisify(execFile)(command, args, { cwd, env: { ...env, PATH: path }, timeout: 300_000 })
}

async function run (...parts: Parameters<typeof start>): Promise<string> {
  return (await start(...parts)).stdout
}

/** Does what the README tells a newcomer to do. The folder has the package, and `path` begins with a Node. */
async function begin (t: Test, folder: string, name: string, path = env.PATH): Promise<void> {
  await run('npx', ['trivet', 'init', name], folder, path)
  const shop = join(folder, name)
  t.match(await run('npx', ['trivet', 'check'], shop, path), '0 problems, 0 pieces of advice')
  t.match(await run('npx', ['trivet', 'call', 'roll_dice', 'count=2'], shop, path), /"dice": \[/)
  t.match(await run('npm', ['test'], shop, path), /^. pass 2$/m)
  const trivet = join(folder, 'node_modules/.bin/trivet')
  const { url, stop } = await startService(t, { PATH: path }, { command: [trivet], args: ['dev'], cwd: shop })
  t.match(await run('npx', ['trivet', 'list', url], shop, path), 'roll_dice')
  t.equal(await stop(), 0)
}

/** Starts the installed package with the example, and calls a tool of it. */
async function measureStart (t: Test, own: string) {
  const command = [process.execPath, join(own, 'dist/launch.js')] as const
  const { url, child, stop } = await startService(t, {}, { command, args: ['serve', join(own, 'catalog')] })
  const { response } = await post(t, url, {
    method: 'tools/call', params: { name: 'search_books', arguments: { query: 'sea' } }
  })
  t.ok(response.result.structuredContent)
  const { pid = 0 } = child
  const cost = { cpuMs: await cpuMs(pid), residentBytes: await residentBytes(pid) }
  await stop()
  return cost
}

/** Links the packages of a folder into another one. npm then fetches and unpacks only what is missing. */
async function linkPackages (from: string, folder: string): Promise<void> {
  const packages = join(folder, 'node_modules')
  // Another file system gets copies. npm writes its list of packages in place.
  await run('cp', ['-al', join(from, 'node_modules'), packages], folder).catch(
    async () => await run('cp', ['-a', join(from, 'node_modules'), packages], folder)
  )
  await rm(join(packages, '.package-lock.json'))
}

/** Has the package as npm installs it, and nothing else. The build is that of this run. */
const empty = await makeFolder(t)
await writeFile(join(empty, 'package.json'), '{ "name": "mine", "private": true, "type": "module" }\n')
await run('npm', ['pack', '--ignore-scripts', '--pack-destination', empty], ROOT)
const tarball = (await readdir(empty)).find((file) => file.endsWith('.tgz')) ?? ''
const installation = await start('npm', [...INSTALL, `./${tarball}`], empty)

// npm waits for the registry and for the disk most of its time.
t.jobs = 2

t.test('the package has what its manifest promises', async (t) => {
  const { messages } = await publint({ pkgDir: ROOT, level: 'warning', strict: true })
  t.strictSame(messages, [])
})

t.test('a project takes other tools, and starts without them', { timeout: 600_000 }, async (t) => {
  const folder = await makeFolder(t)
  await run('npm', ['init', '-y'], folder)
  await copyFile(join(empty, tarball), join(folder, tarball))
  await linkPackages(empty, folder)
  await run('npm', [...INSTALL, '--save-dev', `./${tarball}`], folder)
  await run('npx', ['trivet', 'init', '.'], folder)
  await run('npm', INSTALL, folder)
  // npm refuses it beside types of Node that are older than this release allows.
  await run('npm', [...INSTALL, '--save-dev', '--package-lock-only', 'vitest@5'], folder)
  const lock: { packages: object } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'))
  t.ok('node_modules/vitest' in lock.packages)

  await run('npm', ['ci', '--omit=dev', ...INSTALL.slice(1)], folder)
  t.notOk(existsSync(join(folder, 'node_modules/typescript')))
  const launched = { command: ['npm'], args: ['start'], cwd: folder } as const
  const { url, stop } = await startService(t, { PATH: env.PATH }, launched)
  t.match(await run('npx', ['trivet', 'list', url], folder), 'roll_dice')
  await stop()
})

t.test('installed in an empty folder', { timeout: 600_000 }, async (t) => {
  const folder = empty
  t.notMatch(installation.stderr, 'EBADENGINE', 'every package is for this Node')
  const bytes = await bytesOf(join(folder, 'node_modules'))
  t.ok(bytes < MOST_BYTES, `${bytes} bytes are installed`)
  const own = join(folder, 'node_modules/trivet')
  t.match(await readFile(join(own, 'docs/README.md'), 'utf8'), /^# Documentation$/m)
  for (const { name, links } of (await readAllPages()).filter((page) => existsSync(join(own, page.name)))) {
    const files = links.map((target) => resolveLink(name, target).file)
    // The tests that hold a promise are in the repository alone, as is what builds an image of it.
    const isLeftOut = (file: string) => /^(?:test\/|bench\/|Dockerfile$|docker-compose)/.test(file)
    const dead = files.filter((file) => !isLeftOut(file) && !existsSync(join(own, file)))
    t.strictSame(dead, [], `the links of ${name}`)
  }
  const licences = await readFile(join(own, 'dist/THIRD-PARTY.md'), 'utf8')
  t.match(licences, /^## preact [^]*?Permission/m)
  t.strictSame((await readdir(join(own, 'dist'))).filter((name) => name.endsWith('.d.ts')).toSorted(), [
    'index.d.ts', 'testing.d.ts'
  ])

  t.match(await run('npx', ['trivet', '--version'], folder), /^\d+\.\d+\.\d+\n$/)
  await run('npm', ['ls', '--all'], folder)
  if (HAS_PROC) {
    const costs: Array<typeof MOST_START> = []
    do costs.push(await measureStart(t, own))
    while (costs.length < STARTS && costs.every((cost) => cost.cpuMs > MOST_START.cpuMs))
    const least = (name: keyof typeof MOST_START) => Math.min(...costs.map((cost) => cost[name]))
    t.ok(least('cpuMs') <= MOST_START.cpuMs, `a start takes ${least('cpuMs')} ms of CPU`)
    t.ok(least('residentBytes') <= MOST_START.residentBytes, `and ${least('residentBytes')} bytes of memory`)
  }
  await begin(t, folder, 'shop')
  const library = "import { createApp } from 'trivet'; console.log(typeof createApp)"
  t.equal(await run(process.execPath, ['--input-type=module', '-e', library], folder), 'function\n')

  const home = await makeFolder(t)
  const platform = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const others = OTHER_NODES.map((version) => `node-${version}@npm:${platform}@${version}`)
  await run('npm', [...INSTALL, '--no-save', '--prefix', home, ...others], home)
  for (const version of OTHER_NODES) {
    await t.test(`on Node ${version}`, async (t) => {
      const path = `${join(home, 'node_modules', `node-${version}`, 'bin')}:${env.PATH}`
      t.equal(await run('node', ['--version'], folder, path), `v${version}\n`)
      await begin(t, folder, `shop-${version}`, path)
      if (version.startsWith('20.')) return
      const cache = join(own, '.compile-cache')
      t.ok((await readdir(cache)).length > 0, 'the compiled code is there for the next start')
      t.equal((await stat(cache)).mode & 0o777, 0o700)
      await rm(cache, { recursive: true })
      await mkdir(cache)
      await chmod(cache, 0o777)
      await run('npx', ['trivet', '--version'], folder, path)
      t.strictSame(await readdir(cache), [], 'where others can write is no code that runs')
      await rm(cache, { recursive: true })
      await writeFile(cache, '')
      t.match(await run('npx', ['trivet', '--version'], folder, path), /^\d/, 'it need not be writable')
      await rm(cache)
    })
  }

  await t.test('an edited copy of Fastify is the one that runs', async (t) => {
    const fastify = join(folder, 'node_modules/fastify/fastify.js')
    const source = await readFile(fastify, 'utf8')
    // The file is linked into other folders too.
    await rm(fastify)
    await writeFile(fastify, `${source}\nconsole.error('edited')\n`)
    const { stderr } = await start('npx', ['trivet', 'call', 'roll_dice', 'count=2'], join(folder, 'shop'))
    t.equal(stderr.match(/^edited$/gm)?.length, 1)
    const copies = (await readdir(join(folder, 'node_modules'), { recursive: true }))
      .filter((name) => name.endsWith('node_modules/fastify') || name === 'fastify')
    t.strictSame(copies, ['fastify'])
  })

  const shop = join(folder, 'shop')
  await t.test('a store whose compiled part is missing is named, with what to do', async (t) => {
    const [part, hidden] = [join(folder, 'node_modules/@lmdb'), join(folder, 'lmdb')]
    await rename(part, hidden)
    const failed = await run('npx', ['trivet', 'serve'], shop)
      .catch((error: { stderr: string }) => error.stderr)
    t.match(failed, /TRIVET_STATE_URL: file:\S+ needs the package lmdb and .* or name another store/)
    await rename(hidden, part)
  })

  await mkdir(join(shop, 'node_modules'))
  await symlink(join(ROOT, 'node_modules/@types'), join(shop, 'node_modules/@types'))
  // The compiler that init names, and the release before it.
  for (const compiler of ['typescript7', 'typescript']) {
    const tsc = join(ROOT, `node_modules/${compiler}/bin/tsc`)
    const skips = String(compiler === 'typescript')
    const types = await run(process.execPath, [tsc, '--skipLibCheck', skips], shop)
    t.equal(types, '', 'the types of trivet are found')
  }
  const tsc = join(ROOT, 'node_modules/typescript7/bin/tsc')
  await writeFile(join(shop, 'catalog/tools/wrong.ts'), "import { defineTool } from 'trivet'\n" +
    "const inputSchema = { type: 'object', properties: { count: { type: 'integer' } } } as const\n" +
    "export default defineTool({ name: 'wrong', inputSchema, run: ({ count }) => count?.length })\n")
  const refusal = await run(process.execPath, [tsc], shop).catch((error: { stdout: string }) => error.stdout)
  t.match(refusal, /wrong\.ts.*'length' does not exist on type 'number'/, 'and hold')
  await rm(join(shop, 'node_modules'), { recursive: true })
  await linkPackages(folder, shop)
  await rm(join(shop, 'node_modules/trivet'), { recursive: true })
  await run('npm', [...INSTALL, '--omit=dev'], shop)
  const installed = await readdir(join(shop, 'node_modules'))
  t.ok(installed.includes('trivet'), 'from the file of the first installation')
})
