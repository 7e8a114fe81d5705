import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openStorage } from '../../../src/features/files/url-schemes.ts'
import { testFileStorage } from '../../contracts/file-storage-contract.ts'
import { makeFolder } from '../../helpers/folder.ts'

const noVariables = async () => undefined

testFileStorage(t, 'a folder', async (t) => {
  const folder = join(await makeFolder(t), 'new')
  return {
    storage: await openStorage(`file:${folder}`, noVariables),
    list: async () => await readdir(folder)
  }
})

t.test('a path that is no folder is refused with the reason', async (t) => {
  const folder = await makeFolder(t)
  await writeFile(join(folder, 'file'), '')
  const url = `file:${join(folder, 'file')}`
  await t.rejects(openStorage(url, noVariables), {
    message: /cannot be used: expected a folder that Trivet may write to, got "EEXIST/
  })
  await t.rejects(openStorage('folder', noVariables), { message: /^TRIVET_FILES_URL must be file:PATH or s3:/ })
})

t.test('a sweep leaves the files of others alone', async (t) => {
  const folder = await makeFolder(t)
  await writeFile(join(folder, 'notes.txt'), '')
  await chmod(folder, 0o700)
  const storage = await openStorage(`file:${folder}`, noVariables)
  t.equal(await storage.sweep(Date.now() * 2), 0)
  t.strictSame(await readdir(folder), ['notes.txt'])
})
