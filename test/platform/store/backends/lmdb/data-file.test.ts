// A database whose file was cut off is refused with a message. A whole one is never refused.

import { copyFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open as openLmdb } from 'lmdb'
import t from 'tap'
import { findDataProblem } from '../../../../../src/platform/store/backends/lmdb/data-file.ts'
import { openLmdbStateStore } from '../../../../../src/platform/store/backends/lmdb/state-store.ts'
import { makeFolder } from '../../../../helpers/folder.ts'
import { toValue } from '../../../../helpers/state-value.ts'

const PAGE = 4096
const MAIN = fileURLToPath(new URL('../../../../../dist/main.js', import.meta.url))

t.test('a file that was cut off anywhere is a message, and never a signal', async (t) => {
  const folder = await makeFolder(t)
  const store = openLmdbStateStore(folder)
  for (let index = 0; index < 30; index++) {
    const key = { owner: 'o', name: `n${index}` }
    await store.create(key, toValue('x'.repeat(index * 500)), { idleMs: 600_000 }, 100)
  }
  await store.close()
  const file = join(folder, 'data.mdb')
  const { size } = statSync(file)
  t.equal(findDataProblem(file), undefined)

  const lengths = [
    1, 100, 160, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE - 1, 2 * PAGE, 3 * PAGE, size / 2, size - PAGE - 1
  ]
  const copy = await makeFolder(t)
  const cut = join(copy, 'data.mdb')
  let refused = 0
  for (const length of [...lengths, size - PAGE, size - 1]) {
    await copyFile(file, cut)
    await truncate(cut, length)
    const problem = findDataProblem(cut)
    if (problem === undefined) continue
    refused++
    const message = length < 160 ? /is not a database/ : /was cut off: it has \d+ of \d+ bytes\. Restore/
    t.match(problem, message, `${length}`)
    t.throws(() => openLmdbStateStore(copy), { message: `file:${copy} cannot be used` }, `${length}`)
  }
  t.ok(refused >= lengths.length, `${refused} were refused`)

  await copyFile(file, cut)
  await truncate(cut, 3 * PAGE)
  const { status, signal, stderr } = spawnSync(process.execPath, [MAIN], {
    encoding: 'utf8', env: { PORT: '0', TRIVET_CATALOG: await makeFolder(t), TRIVET_STATE_URL: `file:${copy}` }
  })
  t.strictSame([status, signal], [1, null])
  t.match(stderr, `TRIVET_STATE_URL=file:${copy} cannot be used`)
  t.match(stderr, /data\.mdb was cut off: it has 12288 of \d+ bytes\. Restore a whole copy/)
})

t.test('a file with garbage in place of its headers is no database', async (t) => {
  const folder = await makeFolder(t)
  const file = join(folder, 'data.mdb')
  const store = openLmdbStateStore(folder)
  await store.close()
  const whole = await readFile(file)
  const damage = (at: number) => {
    const bytes = Buffer.from(whole)
    bytes.fill(0xaa, at, at + 8)
    return bytes
  }
  for (const at of [24, 28, 48, PAGE + 24]) {
    await writeFile(file, damage(at))
    t.match(findDataProblem(file), /is not a database|has lost its second header/, String(at))
  }
  await writeFile(file, '')
  t.equal(findDataProblem(file), undefined, 'an empty file is the start of a new one')
})

t.test('no whole file is refused, also one whose last pages were never needed', async (t) => {
  let shorter = 0
  for (let run = 0; run < 6; run++) {
    const folder = join(await makeFolder(t), String(run))
    await mkdir(folder)
    const options = { overlappingSync: false, eventTurnBatching: false }
    const root = openLmdb({ path: folder, noSubdir: false, encoding: 'binary', ...options })
    const values = root.openDB({ name: 'values', encoding: 'binary' })
    const file = join(folder, 'data.mdb')
    for (let commit = 0; commit < 120; commit++) {
      const writes = Array.from({ length: 1 + commit % 12 }, async () => await root.transaction(() => {
        const key = `k${Math.floor(Math.random() * 20)}`
        if (Math.random() < 0.3) values.remove(key)
        else values.put(key, Buffer.alloc(Math.floor(Math.random() ** 3 * 200_000)))
      }))
      await Promise.all(writes)
      const header = await readFile(file)
      const [first, second] = [0, PAGE].map((at) => header.readBigUInt64LE(at + 152))
      const last = header.readBigUInt64LE(((second ?? 0n) > (first ?? 0n) ? PAGE : 0) + 144)
      if (header.length < (Number(last) + 1) * PAGE) shorter++
      const problem = findDataProblem(file)
      if (problem !== undefined) t.fail(`${run} ${commit}: ${problem}`)
    }
    await root.close()
  }
  t.pass(`${shorter} files were shorter than their headers say`)
})
