// One process at a time keeps its state in a folder.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { claimFolder } from '../../../../../src/platform/store/backends/lmdb/sole-process.ts'
import { makeFolder } from '../../../../helpers/folder.ts'

/** One process does one thing at a time. */
const claim = async (folder: string, prefix: string) => await claimFolder(folder, prefix, (work) => work())
const refusal = { message: /^TRIVET_STATE_URL=file:.* another process .* Redis$/ }

/** Leaves a socket as a process that was killed leaves it. */
async function leaveSocket (folder: string): Promise<void> {
  const [path, moved] = [join(folder, 'trivet.sock'), join(folder, 'moved')]
  const server = createServer().listen(path)
  await once(server, 'listening')
  await rename(path, moved)
  server.close()
  await once(server, 'close')
  await rename(moved, path)
}

t.test('a folder is claimed once for each prefix, until it is released', async (t) => {
  const folder = await makeFolder(t)
  const first = await claim(folder, 'trivet')
  await t.rejects(claim(folder, 'trivet'), refusal)
  const other = await claim(folder, 'shop')
  await other.release()
  await first.release()
  await first.release()
  t.strictSame(await readdir(folder), [])
  const again = await claim(folder, 'trivet')
  await again.release()
})

t.test('a folder whose path is too long for a socket is claimed too', async (t) => {
  const folder = join(await makeFolder(t), 'x'.repeat(120))
  await mkdir(folder)
  const first = await claim(folder, 'trivet')
  t.strictSame(await readdir(folder), ['trivet.sock'])
  await t.rejects(claim(folder, 'trivet'), refusal)
  await first.release()
  t.strictSame(await readdir(folder), [])
})

t.test('of processes that start together after a crash, one claims the folder', async (t) => {
  const folder = await makeFolder(t)
  await leaveSocket(folder)
  const claims = await Promise.allSettled([1, 2, 3].map(async () => await claim(folder, 'trivet')))
  t.equal(claims.filter(({ status }) => status === 'fulfilled').length, 1)
  await t.rejects(claim(folder, 'trivet'), refusal)
  for (const one of claims) if (one.status === 'fulfilled') await one.value.release()
})

t.test('of four processes that open the store together after a crash, one does', async (t) => {
  const folder = await makeFolder(t)
  await leaveSocket(folder)
  const [loader, script] = ['runner/register.mjs', 'helpers/lmdb-opener.ts'].map(
    (path) => join(import.meta.dirname, '../../../..', path)
  )
  const processes = Array.from({ length: 4 }, () => spawn(
    process.execPath, ['--import', loader ?? '', script ?? '', folder], { stdio: ['pipe', 'pipe', 'inherit'] }
  ))
  t.teardown(() => { for (const one of processes) one.kill('SIGKILL') })
  const readLine = async ({ stdout }: typeof processes[number]) => String(await once(stdout, 'data')).trim()
  t.strictSame(new Set(await Promise.all(processes.map(readLine))), new Set(['ready']))
  const outcomes = Promise.all(processes.map(readLine))
  for (const { stdin } of processes) stdin.write('go')
  t.strictSame((await outcomes).toSorted(), ['opened', ...new Array(3).fill('refused')])
})

t.test('four processes take room on the disk at once, and each has it', async (t) => {
  const folder = await makeFolder(t)
  const script = `const { assertRoom } = await import('./src/platform/store/backends/lmdb/room.ts')
    for (let count = 0; count < 1000; count++) assertRoom(${JSON.stringify(folder)})`
  const codes = await Promise.all(Array.from({ length: 4 }, async () => {
    const args = ['--import', './test/runner/register.mjs', '--input-type=module', '--eval', script]
    const [code] = await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit')
    return code
  }))
  t.strictSame(codes, [0, 0, 0, 0])
})

t.test('a folder without room for sockets is not claimed', async (t) => {
  const { release } = await claim(join(await makeFolder(t), 'missing'), 'trivet')
  await t.resolves(release())
})
