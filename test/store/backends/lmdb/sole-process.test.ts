// One process at a time keeps its state in a folder.

import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { claimFolder } from '../../../../src/store/backends/lmdb/sole-process.ts'
import { makeFolder } from '../../../helpers/folder.ts'

t.test('a folder is claimed once for each prefix, until it is released', async (t) => {
  const folder = await makeFolder(t)
  const claim = await claimFolder(folder, 'trivet')
  await t.rejects(claimFolder(folder, 'trivet'), { message: /^TRIVET_STATE_URL=file:.* another process .* Redis$/ })
  const other = await claimFolder(folder, 'shop')
  await other.release()
  await claim.release()
  await claim.release()
  t.strictSame(await readdir(folder), [])
  const again = await claimFolder(folder, 'trivet')
  await again.release()
})

t.test('a path that is too long for a socket is not claimed, and nothing is written elsewhere', async (t) => {
  const parent = await makeFolder(t)
  const folder = join(parent, 'x'.repeat(120))
  await mkdir(folder)
  const claims = [await claimFolder(folder, 'trivet'), await claimFolder(folder, 'trivet')]
  t.strictSame([...await readdir(parent), ...await readdir(folder)], ['x'.repeat(120)])
  for (const claim of claims) await claim.release()
})

t.test('a folder without room for sockets is not claimed', async (t) => {
  const claim = await claimFolder(join(await makeFolder(t), 'missing'), 'trivet')
  await t.resolves(claim.release())
})
