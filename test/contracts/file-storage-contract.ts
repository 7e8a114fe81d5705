// What every storage of files does.

import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { createStorageKey, type ByteRange, type FileStorage } from '../../src/features/files/storage.ts'

const HOUR_MS = 3_600_000

export interface StorageUnderTest {
  readonly storage: FileStorage
  /** The names of all that is kept, complete or not. */
  list (): Promise<readonly string[]>
}

function createGate () {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { open, opened }
}

export function testFileStorage (
  t: Test, name: string, open: (t: Test) => Promise<StorageUnderTest>
): void {
  const inTime = () => createStorageKey(Date.now() + HOUR_MS)
  const read = async ({ storage }: StorageUnderTest, key: string, range?: ByteRange) => {
    const stream = await storage.read(key, range)
    return stream && (await buffer(stream))
  }

  async function * chunks (...bytes: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    for (const chunk of bytes) yield chunk
  }

  t.test(`${name} returns the bytes that were written, whole and in parts`, async (t) => {
    const opened = await open(t)
    for (const size of [0, 1, 5000, 6_291_456, 14_000_000]) {
      const bytes = randomBytes(size)
      const key = inTime()
      await opened.storage.write(key, chunks(bytes.subarray(0, 1000), bytes.subarray(1000)))
      t.ok((await read(opened, key))?.equals(bytes), `${size} bytes`)
      t.equal(await opened.storage.has(key), true)
      if (size < 100) continue
      t.ok((await read(opened, key, { start: 7, end: 70 }))?.equals(bytes.subarray(7, 71)), 'a part')
      const last = { start: size - 3, end: size - 1 }
      t.ok((await read(opened, key, last))?.equals(bytes.subarray(-3)), 'the last bytes')
    }
  })

  t.test(`${name} has no file of an unknown key, and none that was deleted`, async (t) => {
    const opened = await open(t)
    const key = inTime()
    t.equal(await read(opened, key), undefined)
    t.equal(await opened.storage.has(key), false)
    await opened.storage.delete(key)
    await opened.storage.write(key, chunks(randomBytes(10)))
    await opened.storage.delete(key)
    t.equal(await read(opened, key), undefined)
  })

  t.test(`${name} keeps nothing of bytes that break off`, async (t) => {
    const opened = await open(t)
    for (const size of [10, 7_000_000]) {
      const key = inTime()
      const broken = (async function * () {
        yield randomBytes(size)
        throw new Error('cut')
      })()
      await t.rejects(opened.storage.write(key, broken), { message: 'cut' })
      t.equal(await opened.storage.has(key), false)
    }
    t.strictSame(await opened.list(), [])
  })

  t.test(`${name} shows a file only when it is complete`, async (t) => {
    const opened = await open(t)
    const key = inTime()
    const gate = createGate()
    const writing = opened.storage.write(key, (async function * () {
      yield randomBytes(7_000_000)
      await gate.opened
      yield randomBytes(10)
    })())
    await pause(300)
    t.equal(await opened.storage.has(key), false)
    gate.open()
    await writing
    t.equal((await read(opened, key))?.length, 7_000_010)
  })

  t.test(`${name} sweeps what has expired, and what its writers abandoned`, async (t) => {
    const opened = await open(t)
    const now = Date.now()
    const [expired, kept] = [createStorageKey(now - 1000), createStorageKey(now + HOUR_MS)]
    for (const key of [expired, kept]) await opened.storage.write(key, chunks(randomBytes(10)))
    t.equal(await opened.storage.sweep(now, () => false), 0)
    t.equal(await opened.storage.has(expired), true, 'the sweep was told to stop')
    t.equal(await opened.storage.sweep(now), 1)
    t.equal(await opened.storage.has(expired), false)
    t.equal(await opened.storage.has(kept), true)
    const gate = createGate()
    const writing = opened.storage.write(createStorageKey(now + 9 * HOUR_MS), (async function * () {
      yield randomBytes(7_000_000)
      await gate.opened
    })())
    while ((await opened.list()).length < 2) await pause(20)
    await opened.storage.sweep(now)
    t.equal((await opened.list()).length, 2)
    t.equal(await opened.storage.sweep(now + 2 * HOUR_MS), 1)
    t.strictSame(await opened.list(), [])
    gate.open()
    await t.rejects(writing)
  })
}
