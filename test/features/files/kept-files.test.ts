// The bytes of an owner, while files are being written.

import t from 'tap'
import { createAccounts, type FileOwner } from '../../../src/features/files/accounts.ts'
import { createKeptFiles } from '../../../src/features/files/kept-files.ts'
import type { FileStorage } from '../../../src/features/files/storage.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import { StoreUnavailable, type StateStore } from '../../../src/platform/store/records/state-store.ts'

const MAX_BYTES = 200_000
const HOUR_MS = 3_600_000
const OWNER = { owner: 'ada' }

function createGate () {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { open, opened }
}

type Write = (source: AsyncIterable<Uint8Array>) => Promise<void>

function openKept (change: (store: StateStore) => StateStore = (store) => store) {
  const clock = { now: Date.now() }
  const written = { bytes: 0 }
  const writeAll: Write = async (source) => {
    for await (const chunk of source) written.bytes += chunk.length
  }
  let write = writeAll
  const storage: Pick<FileStorage, 'write' | 'delete'> = {
    async write (_key, source) { await write(source) },
    async delete () {}
  }
  const store = change(createMemoryStateStore({ now: () => clock.now }))
  const kept = createKeptFiles(storage as FileStorage, createAccounts(store, MAX_BYTES, () => clock.now))
  const keep = async (bytes: AsyncIterable<Uint8Array>, owner: FileOwner = OWNER, how = writeAll) => {
    write = how
    return await kept.keep({ owner, bytes, maxBytes: MAX_BYTES, expiresAt: clock.now + 24 * HOUR_MS })
  }
  const names = async () => [...(await store.list('files-ada')).keys()]
  return { clock, kept, keep, names, written }
}

async function * chunks (...sizes: readonly number[]) { for (const size of sizes) yield Buffer.alloc(size) }

/** Bytes that stop in the middle. */
function createSlowBytes (first: number, rest: number) {
  const [begun, gate] = [createGate(), createGate()]
  async function * read () {
    yield Buffer.alloc(first)
    begun.open()
    await gate.opened
    if (rest < 0) throw new Error('cut')
    yield Buffer.alloc(rest)
  }
  return { bytes: read(), begun: begun.opened, goOn: gate.open }
}

t.test('a file counts for its owner from its first byte', async (t) => {
  const { keep, written } = openKept()
  const slow = createSlowBytes(60_000, 10_000)
  const keeping = keep(slow.bytes)
  await slow.begun
  await t.rejects(keep(chunks(60_000, 60_000)), { name: 'FilesFull' })
  t.equal(written.bytes, 120_000, 'what does not fit is not written')
  t.equal((await keep(chunks(60_000), { owner: 'bob' })).size, 60_000)
  slow.goOn()
  t.equal((await keeping).size, 70_000)
  t.equal((await keep(chunks(130_000))).size, 130_000)
  await t.rejects(keep(chunks(1)), { name: 'FilesFull' })
})

t.test('many files at once do not write more than their share', async (t) => {
  const { keep, written } = openKept()
  const owner = { owner: 'ada', network: 'net' }
  const all = Array.from({ length: 20 }, async () => await keep(chunks(8000, 8000), owner))
  const kept = (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled')
  t.ok(kept.length <= 1)
  t.ok(written.bytes <= MAX_BYTES / 10)
})

t.test('a file that breaks off stops counting, and so does one whose writer was killed', async (t) => {
  const { keep, names, clock } = openKept()
  const slow = createSlowBytes(60_000, -1)
  const keeping = keep(slow.bytes)
  await slow.begun
  slow.goOn()
  await t.rejects(keeping, { message: 'cut' })
  t.strictSame(await names(), [])
  const killed = createSlowBytes(200_000, -1)
  keep(killed.bytes).catch(() => {})
  await killed.begun
  await t.rejects(keep(chunks(1)), { name: 'FilesFull' })
  clock.now += HOUR_MS
  t.equal((await keep(chunks(1))).size, 1)
})

t.test('a kept file has one record, of its size, until it is dropped', async (t) => {
  const { keep, kept, names, clock } = openKept()
  const { key, size } = await keep(chunks(40_000, 5))
  t.strictSame(await names(), [`${size.toString(36)}.${key}`])
  clock.now += 2 * HOUR_MS
  t.equal((await names()).length, 1)
  await kept.drop(OWNER, { key, size, expiresAt: 0 })
  t.strictSame(await names(), [])
})

t.test('while the store is away a file waits for one timeout of it', async (t) => {
  const asked: string[] = []
  const { keep } = openKept((store) => {
    const away = (name: string) => async () => {
      asked.push(name)
      throw new StoreUnavailable(new Error('away'))
    }
    return { ...store, create: away('create'), delete: away('delete') }
  })
  await t.rejects(keep(chunks(10)), { name: 'StoreUnavailable' })
  t.strictSame(asked, ['create'])
})

t.test('a storage that gives up while it waits for bytes leaves nothing that counts', async (t) => {
  const { keep, names } = openKept()
  const slow = createSlowBytes(10_000, 150_000)
  let read: Promise<unknown> = Promise.resolve()
  const kept = keep(slow.bytes, OWNER, async (source) => {
    const chunks = source[Symbol.asyncIterator]()
    await chunks.next()
    read = chunks.next()
    throw new Error('no room')
  })
  await t.rejects(kept, { name: 'StorageFailed' })
  slow.goOn()
  await t.rejects(read, { message: 'the storage has given up the file' })
  t.strictSame(await names(), [])
})
