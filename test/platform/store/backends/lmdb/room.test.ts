// A folder on a full disk is refused with a message. The driver would end the process by a signal.

import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openLmdbStateStore } from '../../../../../src/platform/store/backends/lmdb/state-store.ts'
import { makeFolder } from '../../../../helpers/folder.ts'
import { toValue } from '../../../../helpers/state-value.ts'
import { openSmallDisk } from '../../../../servers/small-disk.ts'

const [LOADER = '', OPENER = ''] = ['runner/register.mjs', 'helpers/lmdb-opener.ts'].map(
  (path) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))
)
const REFUSED = /cannot be used: .* no room for new files \(.+\)\. Make room on the disk/

/** Opens the folder in a process of its own. */
function open (folder: string, command: readonly string[] = []) {
  const [program = '', ...args] = [...command, process.execPath, '--import', LOADER, OPENER, folder]
  const { signal, stdout } = spawnSync(program, args, { input: 'go\n', encoding: 'utf8' })
  return { signal, outcome: stdout.trim().split('\n').slice(1).join('\n') }
}

/** Leaves room for this many bytes. */
function fill (folder: string, bytes: number): void {
  const [reserve, all] = ['reserve', 'all'].map((name) => openSync(join(folder, name), 'a'))
  writeSync(reserve ?? 0, Buffer.alloc(bytes))
  try {
    for (;;) writeSync(all ?? 0, Buffer.alloc(4096))
  } catch {
    // The disk is full.
  }
  for (const file of [reserve, all]) closeSync(file ?? 0)
  rmSync(join(folder, 'reserve'))
}

t.test('files that may not become large are a message', async (t) => {
  t.equal(open(await makeFolder(t)).outcome, 'opened', 'without a limit')
  const folder = await makeFolder(t)
  const { signal, outcome } = open(folder, ['/bin/sh', '-c', 'ulimit -f 1 && exec "$0" "$@"'])
  t.equal(signal, null)
  t.match(outcome, REFUSED)
  t.strictSame(readdirSync(folder), [], 'and nothing is left behind')
})

t.test('a full disk is a message', { timeout: 120_000 }, async (t) => {
  const before = await makeFolder(t)
  const store = openLmdbStateStore(before)
  await store.create({ owner: 'o', name: 'n' }, toValue('x'), { idleMs: 600_000 }, 100)
  await store.close()
  for (const bytes of [0, 8192]) {
    const disk = await openSmallDisk(t)
    if (disk === undefined) return
    const folders = ['new', 'begun', 'restored', 'whole'].map((name) => join(disk.folder, name))
    const [, begun = '', restored = '', whole = ''] = folders
    for (const folder of folders) await mkdir(folder)
    // As a process leaves them that was ended by a signal before.
    for (const name of ['data.mdb', 'lock.mdb']) await writeFile(join(begun, name), '')
    truncateSync(join(begun, 'lock.mdb'), statSync(join(before, 'lock.mdb')).size)
    await copyFile(join(before, 'data.mdb'), join(restored, 'data.mdb'))
    for (const name of ['data.mdb', 'lock.mdb']) await copyFile(join(before, name), join(whole, name))
    fill(disk.folder, bytes)
    for (const folder of folders.slice(0, 3)) {
      const { signal, outcome } = open(folder)
      t.equal(signal, null, `${folder} with ${bytes} bytes of room`)
      t.match(outcome, REFUSED)
    }
    t.strictSame(open(whole), { signal: null, outcome: 'opened' }, 'a whole folder is opened')
    rmSync(join(disk.folder, 'all'))
    for (const folder of folders) t.strictSame(open(folder), { signal: null, outcome: 'opened' }, 'with room')
  }
})
