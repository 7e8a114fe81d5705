// A service whose terminal, pipe or disk is gone, so that it cannot write its log, still ends at a signal.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { writeCatalog } from './helpers/catalog-folder.ts'
import { until, within } from './helpers/deadline.ts'
import { makeFolder } from './helpers/folder.ts'
import { findFreePort } from './helpers/free-port.ts'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
/** On a busy machine. An idle one needs a tenth of it. */
const END_MS = 3000

const isServing = async (port: number) => (
  await fetch(`http://127.0.0.1:${port}/livez`).then(() => true, () => false)
)

async function prepare (t: Test) {
  const port = await findFreePort()
  const catalog = await writeCatalog(t, {})
  const env = {
    PATH: process.env.PATH ?? '',
    SHELL: '/bin/sh',
    PORT: String(port),
    TRIVET_CATALOG: catalog,
    TRIVET_STATE_URL: 'memory:',
    TRIVET_OVERLOAD: 'off'
  }
  return { port, env }
}

async function assertEnds (t: Test, child: ChildProcess, port: number): Promise<void> {
  t.teardown(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  await until(async () => await isServing(port), 'the start', 30_000)
  child.stdout?.destroy()
  // The line of this request cannot be written.
  await isServing(port)
  child.kill('SIGTERM')
  t.strictSame(await within(exited, 'the exit', END_MS), [0, null])
}

t.test('a pipe that nobody reads any more', async (t) => {
  const { port, env } = await prepare(t)
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  await assertEnds(t, child, port)
})

t.test('a disk without space', async (t) => {
  const { port, env } = await prepare(t)
  const full = openSync('/dev/full', 'w')
  const audited = { ...env, TRIVET_AUDIT_FILE: '/dev/full' }
  const child = spawn(process.execPath, [MAIN], { env: audited, stdio: ['ignore', full, 'inherit'] })
  closeSync(full)
  await assertEnds(t, child, port)
})

t.test('a pipe whose reader stalls', async (t) => {
  const { port, env } = await prepare(t)
  const pipe = join(await makeFolder(t), 'log')
  execFileSync('mkfifo', [pipe])
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  t.teardown(() => { closeSync(reader) })
  const filler = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  t.throws(() => { for (;;) writeSync(filler, Buffer.alloc(4096)) }, { code: 'EAGAIN' })
  const full = openSync(pipe, 'w')
  closeSync(filler)
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', full, 'inherit'] })
  closeSync(full)
  await assertEnds(t, child, port)
})

for (const signal of ['SIGHUP', 'SIGTERM'] as const) {
  t.test(`a closed terminal, and ${signal}`, async (t) => {
    const { port, env } = await prepare(t)
    // `script` runs its command in a new terminal, which is gone when `script` is.
    const ignored = signal === 'SIGTERM' ? '< /dev/null' : ''
    const command = `exec ${process.execPath} ${MAIN} dev ${ignored}`
    const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
      env, stdio: ['pipe', 'ignore', 'inherit']
    })
    const exited = once(terminal, 'exit')
    await until(async () => await isServing(port), 'the start', 30_000)
    const children = await readFile(`/proc/${terminal.pid}/task/${terminal.pid}/children`, 'utf8')
    const pid = Number(children.trim())
    t.teardown(() => { try { process.kill(pid, 'SIGKILL') } catch {} })
    terminal.kill('SIGKILL')
    await exited
    if (signal === 'SIGTERM') {
      await isServing(port)
      process.kill(pid, 'SIGTERM')
    }
    await until(async () => !await isServing(port), 'the free port', END_MS)
    await until(async () => !await isAlive(pid), 'the end of the process', END_MS)
  })
}

/** A process that nobody waits for leaves an entry without a command line. */
async function isAlive (pid: number): Promise<boolean> {
  return await readFile(`/proc/${pid}/cmdline`, 'utf8').then((text) => text !== '', () => false)
}
