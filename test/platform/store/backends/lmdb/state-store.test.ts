import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { open } from 'lmdb'
import t, { type Test } from 'tap'
import { openLmdbStateStore } from '../../../../../src/platform/store/backends/lmdb/state-store.ts'
import {
  StoreUnavailable, type StateKey, type StateRecord, type StateStore
} from '../../../../../src/platform/store/records/state-store.ts'
import { checkStateStore } from '../../../../contracts/state-store-contract.ts'
import { until, within } from '../../../../helpers/deadline.ts'
import { makeFolder } from '../../../../helpers/folder.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'

const PROJECT = fileURLToPath(new URL('../../../../../', import.meta.url))
/** The program of the writing processes, where its packages are found. */
const WRITER = join(PROJECT, 'node_modules', '.cache', `lmdb-writer-${process.pid}.mjs`)

await build({
  entryPoints: [join(PROJECT, 'test', 'helpers', 'lmdb-writer.ts')],
  outfile: WRITER,
  bundle: true,
  format: 'esm',
  packages: 'external',
  platform: 'node'
})
t.teardown(async () => await rm(WRITER))
const KEY = { owner: 'o', name: 'counter' }
const LIFETIME = { idleMs: 3_600_000 }

interface Writer {
  readonly child: ChildProcess
  /** Whole lines only. */
  lines (): string[]
  stderr (): string
  readonly exited: Promise<number | null>
}

function start (t: Test, command: string, ...args: string[]): Writer {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => { printed.stdout += text })
  child.stderr.setEncoding('utf8').on('data', (text: string) => { printed.stderr += text })
  const exited = once(child, 'close').then(([code]: Array<number | null>) => code ?? null)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, exited, lines: () => printed.stdout.split('\n').slice(0, -1), stderr: () => printed.stderr }
}

const startWriter = (t: Test, ...args: string[]) => start(t, process.execPath, WRITER, ...args)

function openStore (t: Test, folder: string, options = {}): StateStore {
  const store = openLmdbStateStore(folder, options)
  t.teardown(async () => await store.close())
  return store
}

async function create (
  store: StateStore, key: StateKey, value: string | Buffer, idleMs = LIFETIME.idleMs
): Promise<StateRecord> {
  const made = await store.create(key, toValue(value), { idleMs }, 1e9)
  if (typeof made === 'string') throw new Error(made)
  return made
}

/**
 * Counts the entries of each database of the folder. Open it before the first write: opening waits for
 * writers, which wait for this thread.
 */
function openCounts (t: Test, folder: string): () => { [database: string]: number } {
  const root = open({ path: folder, noSubdir: false, encoding: 'binary', overlappingSync: false })
  const databases = ['headers', 'values', 'expiries', 'owners']
    .map((name) => [name, root.openDB({ name, encoding: 'binary' })] as const)
  t.teardown(async () => await root.close())
  return () => {
    root.resetReadTxn()
    return Object.fromEntries(databases.map(([name, database]) => [name, database.getKeysCount()]))
  }
}

checkStateStore(t, async (t) => {
  const folder = await makeFolder(t)
  let time = 1_800_000_000_000
  const now = () => time
  const reopen = async () => openStore(t, folder, { now })
  return { store: await reopen(), now, advance (ms) { time += ms }, reopen }
})

t.test('acknowledged writes survive the killing of the process, and the folder stays usable', async (t) => {
  const folder = await makeFolder(t)
  const count = openCounts(t, folder)
  // Open all the time: a killed process must not keep the lock.
  const beside = openStore(t, folder)
  const expected = new Map<string, string>()
  for (let round = 0; round < 4; round++) {
    const writer = startWriter(t, 'write', folder)
    await until(() => writer.lines().length > 300 * (round + 1), 'acknowledgements', 20_000)
    writer.child.kill('SIGKILL')
    await writer.exited
    // The next operation on the same record may have been written before its acknowledgement was printed.
    const last = new Map(writer.lines().map((line) => {
      const [owner = '', name = '', ...state] = line.split(' ')
      return [`${owner}/${name}`, state.join(' ')]
    }))
    t.ok(last.size > 100)
    for (const [id, state] of last) expected.set(id, state)
    const lost: string[] = []
    for (const [id, state] of expected) {
      const [owner = '', name = ''] = id.split('/')
      const value = textOf(await beside.read({ owner, name })) ?? 'deleted'
      const index = Number(state.split(' ')[1])
      const after = [state, `replaced ${index}`, 'deleted']
      const next = state.startsWith('created') ? after[index % 3] : state
      if (value !== state && value !== next) lost.push(`${id}: ${state}, found ${value}`)
    }
    t.strictSame(lost, [])
    const { headers, values, expiries } = count()
    t.ok(headers === values && headers === expiries, 'and no operation is there in part')
    await within(create(beside, { owner: 'beside', name: `n${round}` }, 'kept'), 'a write of another process')
  }
})

t.test('processes that share a folder lose none of their increments', async (t) => {
  const folder = await makeFolder(t)
  const count = openCounts(t, folder)
  const store = openStore(t, folder)
  await create(store, KEY, '0')
  const writers = [startWriter(t, 'increment', folder, '400'), startWriter(t, 'increment', folder, '400')]
  for (let own = 0; own < 100; own++) {
    for (let record = await store.read(KEY); record !== undefined; record = await store.read(KEY)) {
      const next = toValue(String(Number(textOf(record)) + 1))
      if (await store.replace(KEY, record.version, next) !== undefined) break
    }
  }
  for (const { exited, lines, stderr } of writers) {
    t.equal(await within(exited, 'the other process to end', 60_000), 0, stderr())
    t.strictSame(lines(), ['done'])
  }
  t.equal(textOf(await store.read(KEY)), '900', 'which a read sees at once')
  const { headers, values, expiries } = count()
  t.strictSame({ headers, values, expiries }, { headers: 41, values: 41, expiries: 41 })
})

t.test('a read sees acknowledged writes of other processes at once', async (t) => {
  const folder = await makeFolder(t)
  const store = openStore(t, folder)
  await create(store, { owner: 'o0', name: 'n' }, 'x')
  const writer = startWriter(t, 'write', folder)
  let seen = 0
  let wasBehind = 0
  writer.child.stdout?.on('data', (text: string) => {
    // Keeps an earlier snapshot in use. The next read must not use it.
    for (const [, owner = '', name = ''] of text.matchAll(/^(o\d+) (\S+) created \d*0$/gm)) {
      if (Number(name.split('-')[1]) % 3 !== 0) continue
      seen++
      store.read({ owner, name }).then((record) => { if (record === undefined) wasBehind++ }, t.threw)
    }
  })
  await until(() => seen > 100, 'acknowledgements', 20_000)
  writer.child.kill('SIGKILL')
  await writer.exited
  t.equal(wasBehind, 0)
})

t.test('the sweep deletes expired records, and keeps used ones', async (t) => {
  const folder = await makeFolder(t)
  let time = 1_800_000_000_000
  const count = openCounts(t, folder)
  const store = openStore(t, folder, { now: () => time, sweepMs: 5 })
  const keys = Array.from({ length: 1000 }, (_, index) => ({ owner: `o${index % 7}`, name: `n${index}` }))
  await Promise.all(keys.map(async (key) => await create(store, key, 'x', 1000)))
  t.strictSame(count(), { headers: 1000, values: 1000, expiries: 1000, owners: 7 })
  time += 600
  for (const key of keys.slice(0, 10)) await store.read(key)
  time += 600
  await until(() => count().headers === 10, 'the sweep')
  await until(() => count().expiries === 10, 'the sweep')
  for (const key of keys.slice(0, 9)) t.equal(textOf(await store.read(key)), 'x')
  t.equal(await store.delete(keys[9] ?? KEY), true)
  time += 1200
  await until(() => count().owners === 0, 'the sweep of the rest')
  t.strictSame(count(), { headers: 0, values: 0, expiries: 0, owners: 0 })
})

t.test('closing the store writes a use that came just before it', async (t) => {
  const folder = await makeFolder(t)
  let time = 1_800_000_000_000
  const first = openStore(t, folder, { now: () => time })
  await create(first, KEY, 'x', 1000)
  time += 600
  await Promise.all([first.read(KEY), first.close()])
  time += 600
  const second = openStore(t, folder, { now: () => time })
  t.equal(textOf(await second.read(KEY)), 'x')
})

t.test('a write that the disk refuses rejects with the reason', async (t) => {
  const folder = await makeFolder(t)
  // A limited file size causes the same error as a full disk.
  const limited = ['-c', 'ulimit -f 4096 && exec "$0" "$@"', process.execPath]
  const writer = start(t, '/bin/sh', ...limited, WRITER, 'fill', folder)
  t.equal(await within(writer.exited, 'the process to end', 30_000), 0, writer.stderr())
  const failed = writer.lines().find((line) => line.startsWith('failed')) ?? ''
  t.match(failed, /^failed StoreUnavailable: .*(?:too large|no space|input\/output error)/i)
  const goesOn = ['refused 20 of 20', 'check StoreUnavailable', 'reads 20000', 'closed']
  t.strictSame(writer.lines().slice(-4), goesOn, 'and goes on refusing, is not ready, reads, and closes')
  const store = openStore(t, folder)
  const acknowledged = writer.lines().filter((line) => line.startsWith('o '))
  t.ok(acknowledged.length > 10)
  for (const line of acknowledged) {
    t.equal((await store.read({ owner: 'o', name: line.slice(2) }))?.value.bytes.length, 20_000)
  }
  t.equal(textOf(await create(store, { owner: 'p', name: 'n' }, 'x')), 'x', 'and the folder is sound')
})

t.test('while another process holds the lock, writes reject in time and reads work', async (t) => {
  const folder = await makeFolder(t)
  const store = openStore(t, folder, { writeDeadlineMs: 300 })
  const { version } = await create(store, KEY, 'x')
  const holder = startWriter(t, 'hold', folder)
  await until(() => holder.lines().includes('holding'), 'the lock to be taken', 20_000)
  await t.rejects(store.check(), StoreUnavailable)
  await t.rejects(store.create({ owner: 'o', name: 'n' }, toValue('x'), LIFETIME, 10), StoreUnavailable)
  t.equal(textOf(await store.read(KEY)), 'x')
  await t.rejects(store.confirm(KEY, version), StoreUnavailable, 'the other may be committing')
  holder.child.kill('SIGKILL')
  await holder.exited
  const isWritable = async () => await store.check().then(() => true, () => false)
  await within(until(isWritable, 'the lock to be free again'), 'a check')
  t.equal(textOf(await create(store, { owner: 'p', name: 'n' }, 'x')), 'x')
})

t.test('a folder that cannot be used is refused, with advice', async (t) => {
  const folder = await makeFolder(t)
  const file = join(folder, 'file')
  await writeFile(file, 'not a folder')
  const broken = await makeFolder(t)
  await writeFile(join(broken, 'data.mdb'), 'not a database'.repeat(1000))
  const locked = await makeFolder(t)
  await mkdir(join(locked, 'lock.mdb'))
  for (const path of [file, join(file, 'below'), broken, locked]) {
    const problem = 'cannot be used: expected a folder .* got ".+"\\. Name another'
    const message = new RegExp(`^TRIVET_STATE_URL=file:${path} ${problem}`)
    t.throws(() => openLmdbStateStore(path), { message }, path)
  }
  const made = openStore(t, join(folder, 'is.made', 'v1.0'))
  t.equal(textOf(await create(made, KEY, 'x')), 'x', 'and one that is missing is made, with any name')
})

t.test('a name that is too long is refused, and nothing is stored', async (t) => {
  const store = openStore(t, await makeFolder(t))
  const tooLong = { owner: 'o', name: 'n'.repeat(2000) }
  await t.rejects(store.create(tooLong, toValue('x'), LIFETIME, 10), RangeError)
  t.equal(textOf(await create(store, { owner: 'o', name: 'n'.repeat(1948) }, 'x')), 'x')
  t.equal(textOf(await store.read({ owner: 'o', name: 'n'.repeat(1948) })), 'x')
  t.equal(await store.delete({ owner: 'o', name: 'n'.repeat(1948) }), true)
})

t.test('an open store keeps no process from ending', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
  const before = timers()
  openStore(t, await makeFolder(t))
  await until(() => timers() <= before, 'the timers of opening')
})

const DAMAGES: ReadonlyArray<readonly [problem: string, damage: (folder: string) => Promise<void>]> = [
  ['removed', async (folder) => await rm(folder, { recursive: true })],
  ['replaced', async (folder) => {
    await rename(folder, `${folder}-before`)
    await mkdir(folder)
    await writeFile(join(folder, 'data.mdb'), '')
  }],
  ['truncated', async (folder) => {
    const file = join(folder, 'data.mdb')
    await truncate(file, (await stat(file)).size / 2)
  }]
]

for (const [problem, damage] of DAMAGES) {
  t.test(`after its database was ${problem} the store acknowledges nothing`, async (t) => {
    const folder = join(await makeFolder(t), 'data')
    const broken: Error[] = []
    const store = openStore(t, folder, { onBroken: (error: Error) => { broken.push(error) } })
    for (let index = 0; index < 20; index++) {
      await create(store, { owner: 'o', name: `n${index}` }, Buffer.alloc(10_000))
    }
    await damage(folder)
    const message = new RegExp(`data\\.mdb was ${problem} while the service was running\\. Restart`)
    const refusal = { name: 'StoreUnavailable', cause: { message } }
    await t.rejects(store.confirm(KEY, 'x'), refusal)
    await t.rejects(create(store, KEY, 'x'), refusal)
    await t.rejects(store.check(), refusal)
    await t.rejects(store.read(KEY), refusal)
    await t.rejects(store.list('o'), refusal)
    t.equal(broken.length, 1)
  })
}

t.test('the removal of the folder is noticed without any call', async (t) => {
  const folder = join(await makeFolder(t), 'data')
  const broken: Error[] = []
  openStore(t, folder, { onBroken: (error: Error) => { broken.push(error) } })
  await rm(folder, { recursive: true })
  await until(() => broken.length > 0, 'the notice')
})
