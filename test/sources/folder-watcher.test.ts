import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { watchFolder } from '../../src/sources/folder-watcher.ts'
import { writeByRename, writeCatalog, writeInPlace } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'

/** Returns a function that does some work, and resolves when a change is reported after it. */
async function watching (t: Test, root: string): Promise<(work: Promise<unknown>) => Promise<void>> {
  let changes = 0
  const close = await watchFolder(root, 'on', () => { changes++ })
  t.teardown(close)
  return async (work) => {
    const before = changes
    await work
    await until(() => changes > before, 'a change')
  }
}

t.test('reports changes in folders at every depth, and in new ones', async (t) => {
  const root = await writeCatalog(t, { 'tools/deep/a.ts': '1' })
  const sees = await watching(t, root)
  await sees(writeInPlace(root, 'tools/deep/a.ts', '2'))
  await sees(writeByRename(root, 'tools/deep/a.ts', '3'))
  await sees(mkdir(join(root, 'lib')))
  await sees(writeInPlace(root, 'lib/x/y/b.ts', '1'))
  await sees(writeInPlace(root, 'lib/x/y/b.ts', '2'))
  await sees(rm(join(root, 'lib/x/y/b.ts')))
})

t.test('watches a folder that replaces another of the same name', async (t) => {
  const root = await writeCatalog(t, { 'tools/a.ts': '1' })
  const sees = await watching(t, root)
  for (let turn = 0; turn < 5; turn++) {
    await sees(rm(join(root, 'tools'), { recursive: true }).then(
      async () => await writeInPlace(root, 'tools/a.ts', `${turn}`)
    ))
    await sees(writeInPlace(root, 'tools/a.ts', `${turn} again`))
  }
})

t.test('follows links to folders and files elsewhere, and links that lead in a circle', async (t) => {
  const elsewhere = await writeCatalog(t, { 'folder/a.ts': '1', 'b.ts': '1' })
  const root = await writeCatalog(t, { 'tools/c.ts': '1' })
  await symlink(join(elsewhere, 'folder'), join(root, 'lib'))
  await symlink(join(elsewhere, 'b.ts'), join(root, 'tools/b.ts'))
  await symlink(root, join(root, 'tools/circle'))
  const sees = await watching(t, root)
  await sees(writeInPlace(elsewhere, 'folder/a.ts', '2'))
  await sees(writeInPlace(elsewhere, 'b.ts', '2'))
  await sees(writeInPlace(root, 'tools/c.ts', '2'))
})

t.test('rejects if there is no folder', async (t) => {
  await t.rejects(watchFolder('/nowhere', 'on', () => {}), { code: 'ENOENT' })
})
