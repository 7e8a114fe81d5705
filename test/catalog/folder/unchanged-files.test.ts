// Plain files are served from memory only while they are as they were when they were read.

import {
  appendFile, chmod, mkdir, open, rename, rm, symlink, utimes, writeFile
} from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { replaceTime } from '../../../src/base/time.ts'
import { UnchangedFiles } from '../../../src/base/unchanged-files.ts'
import { createFileReader } from '../../../src/catalog/folder/files/file-contents.ts'
import { buildApp } from '../../helpers/app.ts'
import { writeCatalog, writeVolume, type Files } from '../../helpers/catalog-folder.ts'
import { send } from '../../helpers/request.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const MIB = 2 ** 20

/** Makes the files of a test older than they are. */
function waitSeconds (t: Test, seconds = 5): void {
  t.teardown(replaceTime({
    now: () => Date.now() + seconds * 1000, monotonic: () => performance.now() + seconds * 1000
  }))
}

interface Opened {
  readonly root: string
  /** The text and whether it came from memory. `undefined` for a file that does not exist. */
  read (path: string, mimeType?: string): Promise<readonly [text: string | undefined, isKept: boolean]>
}

async function openReader (t: Test, root: string, bound = MIB): Promise<Opened> {
  const folder = join(root, 'resources')
  const reader = await createFileReader(folder, { maxBytes: MIB, unchangedFiles: new UnchangedFiles(bound) })
  return {
    root,
    async read (path, mimeType = 'text/plain') {
      const reading = reader.read({ absolutePath: join(folder, path), mimeType }, `file:///${path}`)
      const contents = await reading
      const text = contents && String('text' in contents ? contents.text : contents.blob)
      return [text, !(reading instanceof Promise)]
    }
  }
}

async function openFiles (t: Test, files: Files, bound?: number): Promise<Opened> {
  waitSeconds(t)
  return await openReader(t, await writeCatalog(t, files), bound)
}

t.test('a file that has not changed is read once', async (t) => {
  const { read } = await openFiles(t, {
    'resources/docs/a.txt': 'one', 'resources/b.bin': Buffer.from([0, 1])
  })
  for (const path of ['docs/a.txt', 'b.bin']) {
    t.match(await read(path), [String, false], 'the first read')
    t.strictSame((await read(path))[1], true, 'the second read')
    t.strictSame((await read(path))[1], true, 'and all later ones')
  }
  t.strictSame(await read('docs/a.txt', 'text/markdown'), ['one', false], 'another type is another result')
})

const inDocs = (root: string, path = '') => join(root, 'resources/docs', path)

const WRITTEN = new Date('2026-01-02T03:04:05.000Z')

/** What is done to resources/docs/a.txt, which is `one`, and what a read gives then. */
const CHANGES: ReadonlyArray<readonly [
  name: string, change: (root: string) => Promise<unknown>, text: string | undefined
]> = [
  ['the same number of bytes', (root) => writeFile(inDocs(root, 'a.txt'), 'two'), 'two'],
  ['more bytes', (root) => appendFile(inDocs(root, 'a.txt'), ' more'), 'one more'],
  ['other bytes, with the time of before', async (root) => {
    await writeFile(inDocs(root, 'a.txt'), 'two')
    await utimes(inDocs(root, 'a.txt'), WRITTEN, WRITTEN)
  }, 'two'],
  ['a copy with the same time and size', async (root) => {
    await writeFile(join(root, 'copy'), 'two')
    await utimes(join(root, 'copy'), WRITTEN, WRITTEN)
    await rename(join(root, 'copy'), inDocs(root, 'a.txt'))
  }, 'two'],
  ['nothing', (root) => rm(inDocs(root, 'a.txt')), undefined],
  ['a folder', async (root) => {
    await rm(inDocs(root, 'a.txt'))
    await mkdir(inDocs(root, 'a.txt'))
  }, undefined],
  ['a link to itself', async (root) => {
    await rm(inDocs(root, 'a.txt'))
    await symlink('a.txt', inDocs(root, 'a.txt'))
  }, undefined],
  ['a link within the folder', async (root) => {
    await rm(inDocs(root, 'a.txt'))
    await symlink('../b.txt', inDocs(root, 'a.txt'))
  }, 'two'],
  ['a link to the same file, out of the folder', async (root) => {
    await rename(inDocs(root, 'a.txt'), join(root, 'a.txt'))
    await symlink('../../a.txt', inDocs(root, 'a.txt'))
  }, undefined],
  ['another folder around it', async (root) => {
    await rename(inDocs(root), join(root, 'aside'))
    await mkdir(inDocs(root))
    await rename(join(root, 'resources/b.txt'), inDocs(root, 'a.txt'))
  }, 'two'],
  ['no folder around it', (root) => rm(inDocs(root), { recursive: true }), undefined],
  ['a link out of the folder around it', async (root) => {
    await rename(inDocs(root), join(root, 'aside'))
    await symlink('../aside', inDocs(root))
  }, undefined]
]

for (const [name, change, text] of CHANGES) {
  t.test(`a read sees the file as it is now: ${name}`, async (t) => {
    const { root, read } = await openFiles(t, { 'resources/docs/a.txt': 'one', 'resources/b.txt': 'two' })
    await utimes(inDocs(root, 'a.txt'), WRITTEN, WRITTEN)
    await read('docs/a.txt')
    t.strictSame(await read('docs/a.txt'), ['one', true])
    await change(root)
    t.strictSame(await read('docs/a.txt'), [text, false])
  })
}

t.test('a file whose rights change is opened again', async (t) => {
  const { root, read } = await openFiles(t, { 'resources/docs/a.txt': 'one' })
  await read('docs/a.txt')
  await chmod(inDocs(root, 'a.txt'), 0)
  // Root may read it all the same. Everybody else gets an error.
  t.strictSame((await read('docs/a.txt').catch(() => [undefined, false]))[1], false)
})

t.test('a file is not kept if its time may hide a change', async (t) => {
  const root = await writeCatalog(t, { 'resources/a.txt': 'one', 'resources/b.txt': 'two' })
  const { read } = await openReader(t, root)
  await read('a.txt')
  t.strictSame(await read('a.txt'), ['one', false], 'it has changed within the last two seconds')
  waitSeconds(t)
  const later = new Date(Date.now() + 3_600_000)
  await utimes(join(root, 'resources/b.txt'), later, later)
  await read('b.txt')
  t.strictSame(await read('b.txt'), ['two', false], 'its time is in the future')
  await read('a.txt')
  t.strictSame(await read('a.txt'), ['one', true])
})

t.test('a file is read again after ten seconds: a memory map changes it without a new time', async (t) => {
  const { read } = await openFiles(t, { 'resources/a.txt': 'one' })
  await read('a.txt')
  t.strictSame(await read('a.txt'), ['one', true])
  waitSeconds(t, 16)
  t.strictSame(await read('a.txt'), ['one', false])
  t.strictSame(await read('a.txt'), ['one', true])
})

t.test('a file that changes while it is read is not kept', async (t) => {
  waitSeconds(t)
  const root = await writeCatalog(t, { 'a.txt': 'one' })
  const path = join(root, 'a.txt')
  const files = new UnchangedFiles<object>(MIB)
  const handle = await open(path)
  t.teardown(async () => await handle.close())
  const facts = await handle.stat()
  await appendFile(path, ' more')
  const opened = { handle, facts, realPath: path }
  t.equal(await files.add(path, opened, {}), false)
  t.equal(files.get(path), undefined)
  t.equal(await files.add(path, { ...opened, facts: await handle.stat() }, {}), true)
})

t.test('a file that is not on a disk of this machine is not kept', async (t) => {
  waitSeconds(t)
  const path = '/proc/version'
  const handle = await open(path).catch(() => undefined)
  if (handle === undefined) return t.comment('this system has no /proc')
  t.teardown(async () => await handle.close())
  const files = new UnchangedFiles<object>(MIB)
  t.equal(await files.add(path, { handle, facts: await handle.stat(), realPath: path }, {}), false)
})

t.test('a mounted ConfigMap is read once, and again after its link was swapped', async (t) => {
  waitSeconds(t)
  const root = await writeCatalog(t, {})
  await writeVolume(root, '1', { 'resources/a.txt': 'one' })
  // Its files are links, or lie in a folder that is a link.
  await writeVolume(join(root, 'resources'), '1', { 'b.txt': 'one' })
  for (const moment of ['2', '3']) {
    const { read } = await openReader(t, root)
    const [before] = await read('a.txt')
    t.strictSame(await read('a.txt'), [before, true])
    await read('b.txt')
    t.strictSame((await read('b.txt'))[1], true)
    await writeVolume(join(root, 'resources'), moment, { 'b.txt': moment })
    t.strictSame(await read('b.txt'), [moment, false])
    await writeVolume(root, moment, { 'resources/a.txt': moment })
    t.strictSame(await read('a.txt'), [moment, false])
    await writeVolume(join(root, 'resources'), '1', { 'b.txt': 'one' })
  }
})

t.test('the files that were not used for the longest time give way to others', async (t) => {
  const text = 'x'.repeat(1000)
  const names = Array.from({ length: 40 }, (_, index) => `${index}.txt`)
  const files = Object.fromEntries(names.map((name) => [`resources/${name}`, text]))
  const { read } = await openFiles(t, { ...files, 'resources/large.txt': 'x'.repeat(2000) }, 32 * 4700)
  for (const name of names.slice(0, 32)) await read(name)
  t.strictSame(await read('0.txt'), [text, true], 'all of them have room')
  for (const name of names.slice(32)) await read(name)
  t.strictSame(await read('0.txt'), [text, true], 'it was used')
  t.strictSame(await read('1.txt'), [text, false], 'it was not used')
  await read('large.txt')
  t.strictSame((await read('large.txt'))[1], false, 'a file that would take a large part is not kept')
  t.strictSame(await read('39.txt'), [text, true])
})

t.test('what is kept has a bound', async (t) => {
  const names = Array.from({ length: 1000 }, (_, index) => `${index}.txt`)
  const files = Object.fromEntries(names.map((name) => [`resources/${name}`, `${name} ☕ `.repeat(700)]))
  const { read } = await openFiles(t, files)
  await read('0.txt')
  const before = await memory()
  for (const name of names) await read(name)
  const growth = (await memory() - before) / MIB
  t.ok(growth < 3, `reads of 9 MB grew the memory by ${growth.toFixed(1)} MiB`)
})

async function memory (): Promise<number> {
  // Bytes outside of the heap are freed after the collection that finds them unused.
  for (let time = 0; time < 3; time++) {
    collect()
    await nextTurn()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

t.test('results are the same whether or not the file is read again', async (t) => {
  const app = await buildApp(t, {
    'resources/a.txt': '# Ü "quoted"\n',
    'resources/long.md': 'ノート\n'.repeat(2000),
    'resources/b.png': Buffer.from([0x89, 0x50, 0]),
    'resources/long.bin': Buffer.alloc(9000, 0xfe),
    'tools/change.ts':
      "import { defineTool } from 'trivet'\nexport default defineTool({ " +
      "name: 'change', description: 'Changes what it has read.', async run (_args, ctx) {\n" +
      "const [part] = await ctx.readResource('file:///a.txt')\nconst { text } = part\n" +
      "part.text = 'changed'\nreturn text } })"
  })
  const uris = ['file:///a.txt', 'file:///long.md', 'file:///b.png', 'file:///long.bin', 'file:///']
  const readAll = async () => await Promise.all(uris.map(async (uri) => (
    (await send(app, { method: 'resources/read', params: { uri } })).response.result
  )))
  const first = await readAll()
  waitSeconds(t)
  for (let time = 0; time < 4; time++) {
    t.strictSame(await readAll(), first)
    const call = await send(app, { method: 'tools/call', params: { name: 'change', arguments: {} } })
    t.match(call.response.result.content, [{ text: '# Ü "quoted"\n' }], 'a tool changes only its copy')
  }
})
