// The version of a catalog folder: what changes it, and what does not.

import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  toolModule, writeCatalog, writeInPlace, writeVolume, type Files
} from '../../helpers/catalog-folder.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { loadSnapshot } from '../../helpers/load-catalog.ts'

const LARGE = 'x'.repeat(200_000)

const FILES: Files = {
  'server.yaml': 'name: shop\nversion: 1.0.0\nscopes:\n  - name: a\n    includes: [b]\n',
  'tools/a.ts': "import { one } from '../lib/one.ts'\n" +
    "import data from '../lib/data.json' with { type: 'json' }\n" +
    toolModule('a', "scopes: ['a']", '() => String(one + data.x)'),
  'tools/b.js': `import common from '../lib/common.cjs'\n${toolModule('b', '', '() => common.value')}`,
  'lib/one.ts': 'export const one = 1\n',
  'lib/data.json': '{ "x": 1 }',
  'lib/common.cjs': "exports.value = require('./deep.cjs').value\n",
  'lib/deep.cjs': 'exports.value = 1\n',
  'prompts/p.md': 'Say 1.\n',
  'resources/a.txt': 'one',
  'resources/large.txt': `${LARGE}1`
}

const versionOf = async (root: string) => (await loadSnapshot(root)).version

async function versionWith (t: Test, changed: Files): Promise<string> {
  return await versionOf(await writeCatalog(t, { ...FILES, ...changed }))
}

t.test('is short, and the same wherever and whenever the same files were written', async (t) => {
  const [one, other] = [await writeCatalog(t, FILES), await writeCatalog(t, FILES)]
  for (const path of Object.keys(FILES)) await utimes(join(other, path), 1, 1)
  const version = await versionOf(one)
  t.match(version, /^[0-9a-f]{12}$/)
  t.equal(await versionOf(other), version)
  t.equal(await versionOf(one), version)
  const volumes = new Set<string>()
  for (const moment of ['1', '2']) {
    const volume = await makeFolder(t)
    await writeVolume(volume, moment, FILES)
    volumes.add(await versionOf(volume))
  }
  t.equal(volumes.size, 1, 'also as mounted ConfigMaps')
})

t.test('changes with every file that changes what is served', async (t) => {
  const changes: Files = {
    'server.yaml': 'name: shop\nversion: 1.0.0\nscopes:\n  - name: a\n    includes: [c]\n',
    'tools/a.ts': toolModule('a', "scopes: ['a']", '() => 1'),
    'tools/c.ts': toolModule('c'),
    'lib/one.ts': 'export const one = 2\n',
    'lib/data.json': '{ "x": 2 }',
    'lib/common.cjs': 'exports.value = 2\n',
    'lib/deep.cjs': 'exports.value = 2\n',
    'prompts/p.md': 'Say 2.\n',
    'resources/a.txt': 'two',
    'resources/large.txt': `${LARGE}2`
  }
  const versions = [await versionWith(t, {})]
  for (const [path, contents] of Object.entries(changes)) {
    versions.push(await versionWith(t, { [path]: contents }))
  }
  t.equal(new Set(versions).size, versions.length)
  t.equal(await versionWith(t, { 'lib/unused.txt': 'x', 'README.md': 'x' }), versions[0], 'and with no other')
})

t.test('changes with a reload, and changes back', async (t) => {
  const root = await writeCatalog(t, FILES)
  const before = await versionOf(root)
  await writeInPlace(root, 'resources/a.txt', 'two')
  t.not(await versionOf(root), before)
  await writeInPlace(root, 'resources/a.txt', 'one')
  t.equal(await versionOf(root), before)
})

t.test('changes with entries that a module computes', async (t) => {
  const files = { 'server.yaml': 'name: s\n', 'tools/a.ts': toolModule('a', 'title: globalThis.titleOfA') }
  const root = await writeCatalog(t, files)
  Object.assign(globalThis, { titleOfA: 'one' })
  const before = await versionOf(root)
  Object.assign(globalThis, { titleOfA: 'two' })
  t.not(await versionOf(root), before)
})
