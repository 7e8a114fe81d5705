// The comparison with other libraries: what can be checked of it without their packages.

import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeFolder } from '../helpers/folder.ts'
import { ROOT } from './pages.ts'

const run = async (args: readonly string[], cwd: string) => {
  return (await promisify(execFile)(process.execPath, args, { cwd })).stdout
}

t.test('the page has the lines and the files that the script counts', async (t) => {
  const page = await readFile(join(ROOT, 'docs/migrating.md'), 'utf8')
  const counted = (await run([join(ROOT, 'bench/comparison/run.mjs'), '--count'], ROOT)).trim().split('\n')
  t.ok(counted.length > 5)
  for (const row of counted) t.ok(page.includes(`${row}\n`), row)
})

t.test("Trivet's shop passes its test", async (t) => {
  const folder = await makeFolder(t)
  await cp(join(ROOT, 'bench/comparison/trivet'), folder, { recursive: true })
  await mkdir(join(folder, 'node_modules'))
  await symlink(ROOT, join(folder, 'node_modules/trivet'))
  t.match(await run(['--test', 'test/'], folder), /^. fail 0$/m)
})
