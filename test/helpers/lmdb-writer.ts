// A process that writes to a folder of the LMDB store, and prints one line for each acknowledged write.
// Its arguments: the name of a function below, the folder, and a count.

import { writeSync } from 'node:fs'
import { open } from 'lmdb'
import { openLmdbStateStore } from '../../src/platform/store/backends/lmdb/state-store.ts'
import type { StateStore } from '../../src/platform/store/records/state-store.ts'

const LIFETIME = { idleMs: 3_600_000 }
const [work = '', folder = '', times = '0'] = process.argv.slice(2)
// Not through a stream: a line in a buffer is lost when the process is killed.
const toValue = (text: string | Buffer) => ({ bytes: Buffer.from(text) })
const print = (line: string) => { writeSync(1, `${line}\n`) }
const fail = (message: string): never => { throw new Error(message) }

const WORKS: { readonly [name: string]: (store: StateStore) => Promise<void> } = {
  /** Creates, replaces and deletes, 20 at a time, until the process is killed. */
  async write (store) {
    await Promise.all(Array.from({ length: 20 }, async (_, worker) => {
      for (let i = 0; ; i++) {
        const key = { owner: `o${worker}`, name: `n${process.pid}-${i}` }
        const made = await store.create(key, toValue(`created ${i}`), LIFETIME, 1e9)
        print(`${key.owner} ${key.name} created ${i}`)
        if (i % 3 === 1) {
          if (typeof made === 'string') throw new Error(made)
          await store.replace(key, made.version, toValue(`replaced ${i}`))
          print(`${key.owner} ${key.name} replaced ${i}`)
        }
        if (i % 3 === 2) {
          await store.delete(key)
          print(`${key.owner} ${key.name} deleted`)
        }
      }
    }))
  },

  /** Adds to one shared record, eight at a time, and to records of its own that make the file grow. */
  async increment (store) {
    let left = Number(times)
    await Promise.all(Array.from({ length: 8 }, async (_, worker) => {
      const key = { owner: 'o', name: 'counter' }
      while (left-- > 0) {
        if (left % 20 === 0) {
          await store.create(
            { owner: `p${process.pid}`, name: `n${left}` }, toValue(Buffer.alloc(300_000)), LIFETIME, 1e9
          )
        }
        for (;;) {
          const { value, version } = await store.read(key) ?? fail('the counter is missing')
          if (await store.replace(key, version, toValue(String(Number(value.bytes) + 1))) !== undefined) break
        }
      }
    }))
    await store.close()
    print('done')
  },

  /**
   * Creates records until one fails. Prints the error, whether other writes fail too, and whether the store
   * still reads and closes.
   */
  async fill (store) {
    const create = async (name: string) => await store.create(
      { owner: 'o', name }, toValue(Buffer.alloc(20_000)), LIFETIME, 1e9
    )
    let failure: Error | undefined
    for (let i = 0; failure === undefined; i++) {
      await create(`n${i}`).then(() => print(`o n${i}`), (error: Error) => { failure = error })
    }
    print(`failed ${failure?.name}: ${failure?.cause instanceof Error ? failure.cause.message : ''}`)
    const others = await Promise.allSettled(
      Array.from({ length: 20 }, async (_, index) => await create(`other${index}`))
    )
    print(`refused ${others.filter((one) => one.status === 'rejected' && one.reason.name === 'StoreUnavailable').length} of 20`)
    print(`check ${await store.check().then(() => 'passed', ({ name }: Error) => name)}`)
    print(`reads ${(await store.read({ owner: 'o', name: 'n0' }))?.value.bytes.length}`)
    await store.close()
    print('closed')
  },

  /** Takes the lock of the folder and keeps it. */
  async hold () {
    open({
      path: folder, noSubdir: false, encoding: 'binary', overlappingSync: false
    }).transactionSync(() => {
      print('holding')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })
  }
}

await (WORKS[work] ?? fail(`${work} is no function`))(openLmdbStateStore(folder))
