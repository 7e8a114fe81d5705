// The pages of docs/api are what the docstrings generate. `npm run api` writes them.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { writeApiPages } from '../../build/api-pages.mjs'
import { makeFolder } from '../helpers/folder.ts'
import { ROOT } from './pages.ts'

async function readFolder (folder: string) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.md')).toSorted()
  return await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]))
}

t.test('docs/api has the pages of the docstrings', { timeout: 300_000 }, async (t) => {
  const folder = await makeFolder(t)
  t.strictSame(await writeApiPages(folder), [], 'every exported function has an example')
  const [made, kept] = await Promise.all([readFolder(folder), readFolder(join(ROOT, 'docs/api'))])
  t.strictSame(kept.map(([name]) => name), made.map(([name]) => name))
  const stale = made.filter(([name, page]) => kept.find(([other]) => other === name)?.[1] !== page)
  t.strictSame(stale.map(([name]) => name), [], 'npm run api writes them')
  const text = kept.map(([, page]) => page).join('')
  for (const entry of ['index', 'testing']) {
    const source = await readFile(join(ROOT, `src/${entry}.ts`), 'utf8')
    const names = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
      ([, list = '']) => list.split(',').map((name) => name.trim()).filter((name) => name !== '')
    )
    for (const name of names) t.match(text, new RegExp(`^### ${name}(?:\\(\\))?$`, 'm'), name)
  }
})
