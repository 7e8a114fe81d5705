// The package as npm packs it: installed in an empty folder it is a command, a library, and types.

import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { publint } from 'publint'
import t from 'tap'
import { makeFolder } from './helpers/folder.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
// The packages were just installed for this machine, so npm has them.
const env = { PATH: process.env.PATH, HOME: process.env.HOME, npm_config_prefer_offline: 'true' }

async function run (command: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd, env, timeout: 300_000 })
  return stdout
}

t.test('the package has what its manifest promises', async (t) => {
  const { messages } = await publint({ pkgDir: ROOT, level: 'warning', strict: true })
  t.strictSame(messages, [])
})

t.test('installed in an empty folder', { timeout: 600_000 }, async (t) => {
  const folder = await makeFolder(t)
  await writeFile(join(folder, 'package.json'), '{ "name": "mine", "private": true, "type": "module" }\n')
  // The build of this run is packed: the test has no need of another one.
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], ROOT)
  const [tarball = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'))
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `./${tarball}`], folder)

  t.match(await run('npx', ['trivet', '--version'], folder), /^\d+\.\d+\.\d+\n$/)
  await run('npx', ['trivet', 'init', 'shop'], folder)
  const shop = join(folder, 'shop')
  t.match(await run('npx', ['trivet', 'check'], shop), '0 problems, 0 pieces of advice')
  t.match(await run('npx', ['trivet', 'call', 'roll_dice', 'count=2'], shop), /"dice": \[/)
  t.match(await run('npm', ['test'], shop), /^. pass 2$/m)

  await mkdir(join(shop, 'node_modules'))
  await symlink(join(ROOT, 'node_modules/@types'), join(shop, 'node_modules/@types'))
  const types = await run(process.execPath, [TSC, '--skipLibCheck', 'false'], shop)
  t.equal(types, '', 'the types of trivet are found')
  await writeFile(join(shop, 'catalog/tools/wrong.ts'), "import { defineTool } from 'trivet'\n" +
    "const inputSchema = { type: 'object', properties: { count: { type: 'integer' } } } as const\n" +
    "export default defineTool({ name: 'wrong', inputSchema, run: ({ count }) => count?.length })\n")
  const refusal = await run(process.execPath, [TSC, '--skipLibCheck'], shop)
    .catch((error: { stdout: string }) => error.stdout)
  t.match(refusal, /wrong\.ts.*'length' does not exist on type 'number'/, 'and hold')
  await rm(join(shop, 'node_modules'), { recursive: true })
  await run('npm', ['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'], shop)
  const installed = await readdir(join(shop, 'node_modules'))
  t.ok(installed.includes('trivet'), 'from the file of the first installation')
  const library = "import { createApp } from 'trivet'; console.log(typeof createApp)"
  t.equal(await run(process.execPath, ['--input-type=module', '-e', library], folder), 'function\n')
})
