import { execFileSync } from 'node:child_process'
import { statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeFolder, readTextSync, readPlainFile } from '../../src/base/file-system.ts'
import { makeFolder as makeTemporary } from '../helpers/folder.ts'

t.test('creates a folder with its parents, and leaves one that exists', async (t) => {
  const root = await makeTemporary(t)
  const path = join(root, 'a/b/c')
  t.equal(makeFolder(path, 0o700), join(root, 'a'))
  t.equal(makeFolder(path), undefined)
  for (const one of ['a', 'a/b', 'a/b/c']) t.equal(statSync(join(root, one)).mode & 0o777, 0o700)
})

t.test('throws for a path that cannot be a folder', async (t) => {
  const root = await makeTemporary(t)
  writeFileSync(join(root, 'file'), '')
  symlinkSync('nothing/x', join(root, 'link'))
  t.throws(() => makeFolder(join(root, 'file')), { code: 'EEXIST' })
  t.throws(() => makeFolder(join(root, 'file/a')), { code: 'ENOTDIR' })
  t.throws(() => makeFolder(join(root, 'link')), { code: 'ENOENT' })
  // Node's `recursive` does not return.
  t.throws(() => makeFolder('/proc/no-such/folder'), { code: 'ENOENT' })
})

t.test('refuses a named pipe, whose opening would wait for a writer', async (t) => {
  const root = await makeTemporary(t)
  const [file, pipe, link] = [join(root, 'file'), join(root, 'pipe'), join(root, 'link')]
  writeFileSync(file, 'text')
  execFileSync('mkfifo', [pipe])
  symlinkSync(pipe, link)
  t.equal(String(await readPlainFile(file)), 'text')
  t.equal(readTextSync(file), 'text')
  t.equal(readTextSync('/dev/null'), '')
  for (const path of [pipe, link]) {
    await t.rejects(readPlainFile(path), { message: 'expected a file, got a named pipe' })
    t.throws(() => readTextSync(path), { message: 'expected a file, got a named pipe' })
  }
  await t.rejects(readPlainFile(join(root, 'none')), { code: 'ENOENT' })
})
