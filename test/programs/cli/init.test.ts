// `trivet init`: a new catalog works, and is one that `check` has nothing to say about.

import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { readSource } from '../../../src/programs/cli/installed-source.ts'
import { runProgram } from '../../helpers/program.ts'

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))

for (const [flags, tool] of [[[], 'roll-dice.ts'], [['--js'], 'roll-dice.js']] as const) {
  t.test(`writes a catalog without problems and advice: ${tool}`, async (t) => {
    const root = join(t.testdir({}), 'My Catalog')
    const { out, exitCode } = await runProgram(['init', root, ...flags])
    t.equal(exitCode, 0)
    t.match(out, 'npm install && npm run dev\n')
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
    const test = await promisify(execFile)('npm', ['test'], { cwd: root, env: { PATH: process.env.PATH } })
    t.match(test.stdout, /^. pass 2$/m)
    if (tool.endsWith('.ts')) {
      await symlink(join(PROJECT, 'node_modules/@types'), join(root, 'node_modules/@types'))
      const tsc = join(PROJECT, 'node_modules/typescript7/bin/tsc')
      await promisify(execFile)(process.execPath, [tsc], { cwd: root })
    }
    t.match((await runProgram(['list', join(root, 'catalog')])).out, /roll_dice[^]*plan_a_game[^]*rules\.md/)
  })
}

t.test('extends a project, and refuses only files that it would overwrite', async (t) => {
  const root = t.testdir({
    'package.json': JSON.stringify({
      name: 'mine', scripts: { test: 'tap' }, devDependencies: { trivet: 'file:x.tgz' }
    }),
    '.gitignore': 'dist/\n',
    'package-lock.json': '{}',
    node_modules: {},
    data: {}
  })
  t.equal((await runProgram(['init', root])).exitCode, 0)
  t.strictSame(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')), {
    name: 'mine',
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: {
      dev: 'trivet dev', start: 'trivet serve', check: 'trivet check', test: 'tap', typecheck: 'tsc --noEmit'
    },
    dependencies: { trivet: 'file:x.tgz' },
    devDependencies: { '@types/node': '^22.0.0', typescript: '^7.0.0' }
  })
  t.equal(await readFile(join(root, '.gitignore'), 'utf8'), 'dist/\nnode_modules/\ndata/\n')

  await rm(join(root, 'tsconfig.json'))
  const before = await readdir(root)
  const { exitCode, err } = await runProgram(['init', root])
  t.equal(exitCode, 2)
  t.match(err, /has catalog\/server\.yaml, .*test\.js already\. Move them/)
  t.strictSame(await readdir(root), before)
  await writeFile(join(root, 'file'), '')
  t.match((await runProgram(['init', join(root, 'file')])).err, /file cannot be used: it is a file/)
  await writeFile(join(root, 'package.json'), '[')
  t.match((await runProgram(['init', root])).err, /package\.json is no JSON object/)
})

for (const own of [[], ['index.js']]) {
  t.test(`works in a project of npm init with ${own.join() || 'no'} files of its own`, async (t) => {
    const root = join(t.testdir({}), 'mine')
    await mkdir(join(root, 'node_modules'), { recursive: true })
    await promisify(execFile)('npm', ['init', '-y'], { cwd: root, env: { PATH: process.env.PATH } })
    const manifest = join(root, 'package.json')
    const initial = { ...JSON.parse(await readFile(manifest, 'utf8')), type: 'commonjs' }
    await writeFile(manifest, JSON.stringify(initial))
    for (const file of own) await writeFile(join(root, file), "module.exports = require('node:path')\n")
    t.equal((await runProgram(['init', root])).exitCode, 0)
    t.match(JSON.parse(await readFile(manifest, 'utf8')), {
      type: own.length === 0 ? 'module' : 'commonjs', scripts: { test: 'node --test' }
    })
    await symlink(PROJECT, join(root, 'node_modules/trivet'))
    await symlink(join(PROJECT, 'node_modules/@types'), join(root, 'node_modules/@types'))
    const run = promisify(execFile)
    const { stdout } = await run('npm', ['test'], { cwd: root, env: { PATH: process.env.PATH } })
    t.match(stdout, /^. pass [23]$/m)
    await run(process.execPath, [join(PROJECT, 'node_modules/typescript7/bin/tsc')], { cwd: root })
    for (const file of own) await run(process.execPath, [join(root, file)])
    t.equal((await runProgram(['check', join(root, 'catalog')])).out, '0 problems, 0 pieces of advice\n')
  })
}

t.test('names the package by the source that it was installed from', async (t) => {
  const installed = (resolved?: string) => {
    const entry = { version: '1.2.3', ...resolved !== undefined && { resolved } }
    const packages = { 'node_modules/trivet': entry }
    const root = t.testdir({ node_modules: { '.package-lock.json': JSON.stringify({ packages }) } })
    return { root, source: readSource(join(root, 'node_modules/trivet/'), '1.2.3') }
  }
  t.equal(installed('https://registry.npmjs.org/trivet/-/trivet-1.2.3.tgz').source, '^1.2.3')
  const repository = 'git+ssh://git@example.com/a/trivet.git#abc'
  t.equal(installed(repository).source, repository)
  const file = installed('file:../trivet-1.2.3.tgz')
  t.equal(file.source, `file:${join(file.root, '../trivet-1.2.3.tgz')}`)
  const unknown = installed()
  t.equal(unknown.source, `file:${join(unknown.root, 'node_modules/trivet/')}`, 'no registry is asked')
  t.equal(readSource('/checkout/', '1.2.3'), 'file:/checkout/')
})
