// The records of upload links, also where answers of the store are lost.

import { readdir } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { replaceTime, timers } from '../../../src/base/time.ts'
import { createFileRoom } from '../../../src/features/files/file-room.ts'
import { createFileServer, type LinkedUpload } from '../../../src/features/files/file-server.ts'
import type { UploadLink } from '../../../src/features/files/links.ts'
import { createUploadRecords, recordsOwnerOf } from '../../../src/features/files/upload-records.ts'
import { openStorage } from '../../../src/features/files/url-schemes.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { StoreUnavailable, type StateStore } from '../../../src/platform/store/records/state-store.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { makeFolder } from '../../helpers/folder.ts'

const DAY_MS = 86_400_000

const toLink = (id: string, network?: string): UploadLink => ({
  kind: 'upload',
  id,
  owner: 'anonymous',
  records: recordsOwnerOf({ owner: 'anonymous', ...network !== undefined && { network } }),
  ...network !== undefined && { network },
  message: 'A file',
  accept: [],
  maxBytes: 1000,
  ttlMs: DAY_MS,
  expiresAt: Date.now() + 10 * 365 * DAY_MS
})

const toFile = (key: string) => ({
  key, size: 1, name: 'a', mimeType: 'text/plain', expiresAt: Date.now() + DAY_MS
})

function openRecords (store: StateStore = createMemoryStateStore()) {
  const broadcast = createLocalBroadcast()
  return createUploadRecords({ store, broadcast, now: Date.now })
}

/**
 * A store that does the next writes of upload records, and answers that it may not have done them. It refuses
 * to write a record again.
 */
function createLossyStore (lost: number) {
  const store = createMemoryStateStore()
  const confirmed: string[] = []
  let left = lost
  const lossy: StateStore = {
    ...store,
    async create (key, ...rest) {
      const record = await store.create(key, ...rest)
      if (key.owner.startsWith('uploads-') && left-- > 0) throw new StoreUnavailable(new Error('lost'))
      return record
    },
    async confirm (key, ...rest) {
      confirmed.push(key.name)
      return await store.confirm(key, ...rest)
    },
    async replace () { throw new Error('a record was written again') }
  }
  return { store, lossy, confirmed }
}

async function openUpload (
  t: Test, store: StateStore, link: UploadLink
): Promise<{ readonly upload: LinkedUpload, readonly list: () => Promise<string[]> }> {
  const folder = await makeFolder(t)
  const room = createFileRoom({
    storage: await openStorage(`file:${folder}`, async () => undefined),
    store,
    broadcast: createLocalBroadcast(),
    links: { findUrl: () => '', seal: () => '', open: () => undefined },
    limits: { maxFileBytes: 1000, maxFileBytesPerCaller: 1000, uploadTtlMs: DAY_MS },
    log: { warn () {} },
    now: Date.now
  })
  t.teardown(async () => await room.close())
  const server = createFileServer({ open: () => link }, async () => room, async () => undefined)
  const page = await server.find('', undefined)
  if (page === undefined || 'file' in page) throw new Error('no page')
  return { upload: page.upload, list: async () => await readdir(folder) }
}

/** Attempts follow each other at once, and their pauses count. */
function skipPauses (t: Test): void {
  let passedMs = 0
  t.teardown(replaceTime({
    monotonic: () => performance.now() + passedMs,
    pause: async (ms) => { passedMs += ms }
  }))
}

async function * chunks (...texts: readonly string[]) { for (const text of texts) yield Buffer.from(text) }
const sent = (text: string) => ({ name: 'a.txt', mimeType: 'text/plain', bytes: chunks(text) })

t.test('an own record whose answer was lost is found', async (t) => {
  skipPauses(t)
  const { lossy } = createLossyStore(1)
  const records = openRecords(lossy)
  const link = toLink('a')
  t.equal(await records.add(link, toFile('first')), 'added')
  t.match(await records.find(link), { key: 'first' })
  t.equal(await records.add(link, toFile('second')), 'taken')
  t.match(await records.find(link), { key: 'first' })
})

t.test('a link is said to be used when that is as durable as the record of a new file', async (t) => {
  const { lossy, confirmed } = createLossyStore(0)
  const records = openRecords(lossy)
  const link = toLink('a')
  t.equal(await records.isUsed(link), false)
  await records.add(link, toFile('first'))
  t.equal(await records.isUsed(link), true)
  t.strictSame(confirmed, ['a'])
  const away = async () => { throw new StoreUnavailable(new Error('no replica has it')) }
  await t.rejects(openRecords({ ...lossy, confirm: away }).isUsed(link), StoreUnavailable)
})

t.test('an upload whose record was written, and whose answer was lost, is received', async (t) => {
  skipPauses(t)
  const { store, lossy } = createLossyStore(1)
  const link = toLink('a')
  const { upload, list } = await openUpload(t, lossy, link)
  t.equal(await upload.receive(sent('x')), 'received')
  t.strictSame(await list(), [(await openRecords(store).find(link))?.key])
})

t.test('while the store is away a link is not used', async (t) => {
  skipPauses(t)
  const store = createMemoryStateStore()
  const records = openRecords({
    ...store, create: async () => { throw new StoreUnavailable(new Error('away')) }
  })
  await t.rejects(records.add(toLink('b'), toFile('b')), { name: 'StoreUnavailable' })
  t.equal(await openRecords(store).isUsed(toLink('b')), false)
})

t.test('a file waits for a store that is away for seconds, whether it refuses or is silent', async (t) => {
  for (const timeoutMs of [0, 1500]) {
    const time = new VirtualTime(t)
    const store = createMemoryStateStore()
    const back = time.now + 4000
    const records = openRecords({
      ...store,
      async create (...args) {
        if (time.now >= back) return await store.create(...args)
        await timers.pause(timeoutMs)
        throw new StoreUnavailable(new Error('away'))
      }
    })
    t.equal(await time.during(records.add(toLink('a'), toFile('a')), 10_000), 'added')
  }
})

t.test('a file whose record cannot be confirmed is kept', async (t) => {
  skipPauses(t)
  const { store, lossy } = createLossyStore(Infinity)
  const link = toLink('a')
  const { upload, list } = await openUpload(t, lossy, link)
  await t.rejects(upload.receive(sent('x')), { name: 'StorageFailed' })
  const file = await openRecords(store).find(link)
  t.strictSame(await list(), [file?.key])
})

t.test('one file at a time is sent by a link, and a lost replica does not keep the link', async (t) => {
  const clock = { now: Date.now() }
  const records = openRecords(createMemoryStateStore({ now: () => clock.now }))
  const link = toLink('a')
  const turn = await records.begin(link)
  t.equal(await records.begin(link), undefined)
  t.ok(await records.begin(toLink('b')))
  await turn?.end()
  t.ok(await records.begin(link))
  clock.now += 70_000
  t.ok(await records.begin(link))
})

t.test('who tries again does not extend the turn of a replica that was lost', async (t) => {
  const clock = { now: Date.now() }
  const records = openRecords(createMemoryStateStore({ now: () => clock.now }))
  const link = toLink('a')
  // Its timer, which would extend the turn, does not fire within this test.
  await records.begin(link)
  clock.now += 40_000
  t.equal(await records.begin(link), undefined)
  clock.now += 30_000
  t.ok(await records.begin(link))
})

t.test('a turn that ends while the store is away leaves the link free when the store is back', async (t) => {
  const time = new VirtualTime(t)
  const store = createMemoryStateStore()
  let isAway = false
  const whenThere = async <T> (work: () => Promise<T>) => {
    if (isAway) throw new StoreUnavailable(new Error('away'))
    return await work()
  }
  const records = openRecords({
    ...store,
    peek: async (key) => await whenThere(async () => await store.peek(key)),
    delete: async (key) => await whenThere(async () => await store.delete(key))
  })
  const link = toLink('a')
  const turn = await records.begin(link)
  isAway = true
  await turn?.end()
  await time.during(timers.pause(2000), 3000)
  isAway = false
  await time.during(timers.pause(1000), 2000)
  const next = await records.begin(link)
  t.ok(next)
  await turn?.end()
  t.equal(await records.begin(link), undefined, 'who ends late does not end the turn of another')
})

t.test('a turn whose begin was not confirmed leaves the link free when the store is back', async (t) => {
  const time = new VirtualTime(t)
  const store = createMemoryStateStore()
  const back = time.now + 7000
  const records = openRecords({
    ...store,
    async create (...args) {
      const record = await store.create(...args)
      if (time.now < back) throw new StoreUnavailable(new Error('the answer was lost'))
      return record
    },
    async peek (key) {
      if (time.now < back) throw new StoreUnavailable(new Error('away'))
      return await store.peek(key)
    }
  })
  const link = toLink('a')
  await t.rejects(time.during(records.begin(link), 10_000), StoreUnavailable)
  await time.during(timers.pause(5000), 6000)
  t.ok(await time.during(records.begin(link), 10_000))
})

t.test('the records of one address leave those of others alone', async (t) => {
  const records = openRecords()
  for (let id = 0; id < 1000; id++) await records.add(toLink(`a${id}`, 'a'), toFile('a'))
  t.equal(await records.add(toLink('a', 'a'), toFile('a')), 'full')
  t.equal(await records.add(toLink('b', 'b'), toFile('b')), 'added')
  t.equal(await records.add(toLink('c'), toFile('c')), 'added')
})

t.test('a link of an earlier release has its record where that release finds it', async (t) => {
  const store = createMemoryStateStore()
  const { records, ...link } = toLink('a', 'a')
  t.equal(await openRecords(store).add(link, toFile('a')), 'added')
  t.strictSame([...(await store.list('uploads-anonymous')).keys()], ['a'])
})

t.test('who waits for a file hears of it', async (t) => {
  const records = openRecords()
  const heard: string[] = []
  const stops = ['a', 'b'].map((id) => records.listen(toLink(id), () => heard.push(id)))
  await records.add(toLink('a'), toFile('a'))
  t.strictSame(heard, ['a'])
  for (const stop of stops) stop()
  await records.add(toLink('b'), toFile('b'))
  t.strictSame(heard, ['a'])
})
