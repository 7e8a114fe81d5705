import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createRotation } from '../../src/base/rotation.ts'
import { until } from '../helpers/deadline.ts'

/** Work that ends when it is told to. */
function createPieces () {
  const begun: string[] = []
  const ends: Array<() => void> = []
  return {
    begun,
    endAll (): void { for (const end of ends.splice(0)) end() },
    piece: (name: string) => async () => {
      begun.push(name)
      await new Promise<void>((resolve) => { ends.push(resolve) })
      return name
    }
  }
}

t.test('begins one piece in each turn, also if each ends at once', async (t) => {
  const rotation = createRotation(4)
  const begun: number[] = []
  for (let i = 0; i < 100; i++) rotation.run(`caller ${i % 10}`, async () => begun.push(i))
  t.strictSame(begun, [], 'not in the turn in which it was asked for')
  while (begun.length < 100) {
    const before = begun.length
    await turn()
    t.ok(begun.length - before <= 1, `${begun.length - before} in one turn`)
  }
})

t.test('runs no more at once than it may', async (t) => {
  const rotation = createRotation(3)
  const { begun, endAll, piece } = createPieces()
  const runs = Array.from({ length: 7 }, async (_, i) => await rotation.run('ada', piece(`${i}`)))
  for (const most of [3, 6, 7]) {
    await until(() => begun.length === most, `${most} pieces`)
    for (let i = 0; i < 10; i++) await turn()
    t.equal(begun.length, most)
    endAll()
  }
  t.strictSame(await Promise.all(runs), ['0', '1', '2', '3', '4', '5', '6'])
})

t.test('a caller with little work does not wait for one with much', async (t) => {
  const rotation = createRotation(1)
  const done: string[] = []
  const run = async (caller: string) => { await rotation.run(caller, async () => done.push(caller)) }
  const mallory = Promise.all(Array.from({ length: 1000 }, async () => await run('mallory')))
  await until(() => done.length > 10, 'the first pieces')
  const before = done.length
  await Promise.all([run('ada'), run('bob')])
  t.ok(done.length - before <= 6, `${done.length - before} pieces`)
  await mallory
  t.equal(done.length, 1002)
})

t.test('goes on after a piece that fails', async (t) => {
  const rotation = createRotation(1)
  const failed = rotation.run('ada', async () => { throw new Error('no') })
  const next = rotation.run('ada', async () => 'done')
  await t.rejects(failed, { message: 'no' })
  t.equal(await next, 'done')
})
