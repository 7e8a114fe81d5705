// A handler that waits for the file of its user while the store is away.

import t from 'tap'
import { clock, timers } from '../../../src/base/time.ts'
import { createFileRoom } from '../../../src/features/files/file-room.ts'
import { askForFile } from '../../../src/features/files/handler-files.ts'
import { openStorage } from '../../../src/features/files/url-schemes.ts'
import type { FileClient } from '../../../src/request/pipeline/seams.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'

t.test('a handler that waits for a file waits for the store too, and ends with its call', async (t) => {
  const folder = await makeFolder(t)
  const time = new VirtualTime(t)
  const store = createMemoryStateStore()
  let back = time.now + 6000
  const room = createFileRoom({
    storage: await openStorage(`file:${folder}`, async () => undefined),
    store: {
      ...store,
      async read (key) {
        if (time.now < back) throw new StoreUnavailable(new Error('away'))
        return await store.read(key)
      }
    },
    broadcast: createLocalBroadcast(),
    links: { findUrl: () => '', seal: () => 'http://localhost/', open: () => undefined },
    limits: { maxFileBytes: 1000, maxFileBytesPerCaller: 1000, uploadTtlMs: 60_000 },
    log: { warn () {} },
    now: clock.now
  })
  t.teardown(async () => await room.close())
  const calling = new AbortController()
  let id = ''
  const client: FileClient = {
    round: {
      once: async (_key: string, work: () => Promise<{ id: string }>) => {
        const link = await work()
        id = link.id
        return link
      },
      ask: async () => ({ upload: { action: 'accept' } })
    } as unknown as FileClient['round'],
    sender: { principal: { scopes: new Set() }, address: undefined },
    signal: calling.signal,
    pauseClock: () => () => {}
  }
  const waiting = askForFile(room, client, { message: 'A file' })
  await time.during(timers.pause(3000), 4000)
  const name = 'a.txt'
  const file = { key: 'key', size: 1, name, mimeType: 'text/plain', expiresAt: time.now + 60_000 }
  const link = { id, owner: 'anonymous', records: 'uploads-anonymous' }
  await room.uploads.add({
    ...link, kind: 'upload', message: '', accept: [], maxBytes: 1, ttlMs: 1, expiresAt: file.expiresAt
  }, file)
  t.match(await time.during(waiting, 10_000), { action: 'accept', name })

  back = Infinity
  const cancelled = askForFile(room, client, { message: 'A file' })
  await time.during(timers.pause(3000), 4000)
  calling.abort()
  await t.rejects(time.during(cancelled, 2000), StoreUnavailable)
})

t.test('a sweep of a silent storage does not delay the end of the service', async (t) => {
  const time = new VirtualTime(t)
  const warnings: unknown[] = []
  let mayGoOn = (): boolean => true
  let isSwept = false
  const room = createFileRoom({
    storage: {
      ...await openStorage(`file:${await makeFolder(t)}`, async () => undefined),
      async sweep (_now, isWanted = () => true) {
        isSwept = true
        mayGoOn = isWanted
        await timers.pause(600_000)
        throw new Error('silent')
      }
    },
    store: createMemoryStateStore(),
    broadcast: createLocalBroadcast(),
    links: { findUrl: () => '', seal: () => 'http://localhost/', open: () => undefined },
    limits: { maxFileBytes: 1000, maxFileBytesPerCaller: 1000, uploadTtlMs: 60_000 },
    log: { warn (fields) { warnings.push(fields) } },
    now: clock.now
  })
  await time.during(timers.pause(600_001), 700_000)
  t.strictSame([isSwept, mayGoOn()], [true, true])
  await time.during(room.close(), 2000)
  t.equal(mayGoOn(), false)
  await time.during(timers.pause(700_000), 800_000)
  t.strictSame(warnings, [])
})
