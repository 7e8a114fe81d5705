// 'trivet/testing' as it is published: with several test runners, and beside 'trivet'.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import t, { type Test } from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs Node without the environment of the runner of this test. Resolves to its output. */
async function run (args: readonly string[], cwd = ROOT): Promise<string> {
  const env = { PATH: process.env.PATH }
  const ran = promisify(execFile)(process.execPath, args, { cwd, env, timeout: 60_000 })
  const { stdout, stderr } = await ran.catch((error: { stdout: string, stderr: string }) => error)
  return stdout + stderr
}

async function runModule (source: string): Promise<string> {
  return await run(['--input-type=module', '-e', source])
}

/** The source of an expression that opens a catalog with the tool `a`. */
async function openSource (t: Test): Promise<string> {
  const folder = await writeCatalog(t, { 'tools/a.ts': `${toolModule('a')}\nglobalThis.seen = ToolError` })
  return `openCatalog(${JSON.stringify(folder)})`
}

t.test('the tests of the bookshop pass in node:test', async (t) => {
  const output = await run(['--test', '--test-reporter=tap'], join(ROOT, 'catalog'))
  t.match(output, /^# pass [1-9]/m)
  t.match(output, /^# fail 0$/m, output)
})

t.test('a test in the style of tap passes', async (t) => {
  const output = await run(['test/programs/testing/runners/tap-style.mjs'])
  t.match(output, /^# \{ total: 2, pass: 2 \}$/m, output)
})

t.test('modules of the catalog import the same trivet as the test', async (t) => {
  const output = await runModule(`import { ToolError } from 'trivet'
    import { openCatalog } from 'trivet/testing'
    const catalog = await ${await openSource(t)}
    await catalog.close()
    console.log(globalThis.seen === ToolError)`)
  t.equal(output, 'true\n')
})

t.test('closes the catalog at the end of a block with `await using`', async (t) => {
  const { code } = await transform(`import { openCatalog } from 'trivet/testing'
    let left
    {
      await using catalog = await ${await openSource(t)}
      console.log((await catalog.call('a')).text)
      left = catalog
    }
    await left.call('a').catch(({ message }) => { console.log(message) })`, { target: 'node20', format: 'esm' })
  t.equal(await runModule(code), 'ok\nThe catalog is closed.\n')
})

t.test('a test that closes nothing ends nevertheless', async (t) => {
  const output = await runModule(`import { openCatalog } from 'trivet/testing'
    const catalog = await ${await openSource(t)}
    console.log((await catalog.call('a')).text)`)
  t.equal(output, 'ok\n')
})
