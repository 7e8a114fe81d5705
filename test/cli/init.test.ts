// `trivet init`: a new catalog works, and is one that `check` has nothing to say about.

import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { runProgram } from '../helpers/program.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

for (const [flags, tool] of [[[], 'roll-dice.ts'], [['--js'], 'roll-dice.js']] as const) {
  t.test(`writes a catalog without problems and advice: ${tool}`, async (t) => {
    const root = join(t.testdir({}), 'My Catalog')
    const { out, exitCode } = await runProgram(['init', root, ...flags])
    t.equal(exitCode, 0)
    t.match(out, 'npm install && npx trivet dev\n')
    const files = await readdir(root, { recursive: true })
    for (const file of files) if (file.includes('.')) t.match(out, file)
    t.ok(files.includes(`catalog/tools/${tool}`))
    t.equal(files.includes('tsconfig.json'), tool.endsWith('.ts'))
    t.match(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')), {
      name: 'my-catalog', dependencies: { trivet: '^1.2.3' }
    })
    t.equal((await runProgram(['check', join(root, 'catalog')])).out, '0 problems, 0 pieces of advice\n')
    await mkdir(join(root, 'node_modules'))
    await symlink(PROJECT, join(root, 'node_modules/trivet'))
    const test = await promisify(execFile)(process.execPath, ['--test', 'test/'], {
      cwd: root, env: { PATH: process.env.PATH }
    })
    t.match(test.stdout, /^. pass 2$/m)
    if (tool.endsWith('.ts')) {
      await symlink(join(PROJECT, 'node_modules/@types'), join(root, 'node_modules/@types'))
      const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc')
      // The test of the package checks the declarations of its libraries.
      await promisify(execFile)(process.execPath, [tsc, '--skipLibCheck'], { cwd: root })
    }
    t.match((await runProgram(['list', join(root, 'catalog')])).out, /roll_dice[^]*plan_a_game[^]*rules\.md/)
  })
}

t.test('writes nothing into a folder that has something', async (t) => {
  const root = t.testdir({})
  await mkdir(join(root, '.git'))
  t.equal((await runProgram(['init', root])).exitCode, 0, 'hidden files may be there')
  const before = await readdir(root)
  const { exitCode, err } = await runProgram(['init', root])
  t.equal(exitCode, 2)
  t.match(err, /is not empty: it has \S+\. Name a new folder\n$/)
  t.strictSame(await readdir(root), before)
  await writeFile(join(root, 'file'), '')
  t.match((await runProgram(['init', join(root, 'file')])).err, /file cannot be used: it is a file/)
})
