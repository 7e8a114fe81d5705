// A program that is missing where everything must be verified: CI installs it, or a test fails.

import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CALL = /\b(?:hasPrograms|isComplete)\(t, [^\n]*, '([^']+)'\)/g
/** Debian has the first one always, and the second one with the server. */
const INSTALLED_WITH_OTHERS = ['systemd', 'postgresql-client']

/** Asks for a program that no machine has. */
const ASK = `import t from 'tap'
import { hasPrograms } from './test/servers/programs.ts'
t.test('asks', async (t) => { if (hasPrograms(t, ['no-such-program'], 'systemd')) throw new Error('it is there') })`

t.test('CI installs each package that a test needs', async (t) => {
  const files = await readdir(join(root, 'test'), { recursive: true })
  const sources = await Promise.all(files.filter((file) => file.endsWith('.ts')).map(
    async (file) => await readFile(join(root, 'test', file), 'utf8')
  ))
  const packages = sources.flatMap((source) => [...source.matchAll(CALL)])
    .flatMap(([, names = '']) => names.split(' and '))
  for (const name of ['glewlwyd', 'sqlite3', 'chromium', 'redis-server', 'postgresql']) {
    t.ok(packages.includes(name), `${name} is found`)
  }
  const ci = await readFile(join(root, '.ci/run'), 'utf8')
  t.match(ci, /^export TRIVET_TEST_REQUIRE_SERVERS=1$/m)
  const installed = [...ci.matchAll(/missing\+=\(([\w-]+)\)/g)].map(([, name = '']) => name)
  t.strictSame([...new Set(packages)].filter(
    (name) => !installed.includes(name) && !INSTALLED_WITH_OTHERS.includes(name)
  ), [])
})

for (const [name, code] of [['TRIVET_TEST_REQUIRE_SERVERS', 1], ['CI', 1], ['ANY', 0]] as const) {
  t.test(`with ${name}, a missing program ends the tests with ${code}`, async (t) => {
    const { CI: _, TRIVET_TEST_REQUIRE_SERVERS: __, ...environment } = process.env
    const { status, stdout, stderr } = spawnSync(process.execPath, [
      '--import=./test/runner/register.mjs', '--input-type=module', '--eval', ASK
    ], { cwd: root, encoding: 'utf8', env: { ...environment, TAP: '1', [name]: '1' } })
    t.equal(status, code, stderr)
    t.match(stdout, 'not verified: no-such-program missing. Install the package systemd')
  })
}
