// Reloads do not leak memory.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { CompiledModules } from '../../../src/platform/modules/compiled-module.ts'
import { ModuleGraph } from '../../../src/platform/modules/module-graph.ts'
import { writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** The bytes that each evaluation of the edited module keeps. */
const HELD = 100_000

const text = (turn: number): string => `import { b } from './b.ts'
import c from './c.cjs'
enum Turn { Now = ${turn} }
export const held = new Uint8Array(${HELD}).map((_, index) => index % 251)
export const all = [b, c, Turn.Now, held.length]
export const later = () => import('./b.ts')`

async function heapAfter (
  reload: (turn: number) => Promise<void>, from: number, turns: number
): Promise<number> {
  for (let turn = from; turn < from + turns; turn++) await reload(turn)
  // The memory of a buffer is freed some time after the buffer is collected.
  for (let turn = 0; turn < 5; turn++) {
    await sleep(20)
    collect()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

t.test('keeps the heap flat over hundreds of reloads', async (t) => {
  const root = await writeCatalog(t, {
    'a.ts': '', 'b.ts': 'export const b: number = await 1', 'c.cjs': 'exports.held = new Uint8Array(100_000)'
  })
  const compiled = new CompiledModules()
  const kept: object[] = []
  async function reload (turn: number): Promise<void> {
    await writeInPlace(root, 'a.ts', text(turn))
    const graph = new ModuleGraph({ root, provided: {}, compiled })
    const exports = await graph.load(join(root, 'a.ts'))
    t.match(exports.all, [1, { held: Uint8Array }, turn, HELD])
    compiled.forgetUnused()
    if (kept.length > 0) kept.push(exports)
  }
  const before = await heapAfter(reload, 0, 60)
  const after = await heapAfter(reload, 60, 240)
  t.ok(after - before < 3_000_000, `grew by ${after - before} bytes in 240 reloads`)
  kept.push({})
  const leaking = await heapAfter(reload, 300, 60)
  t.ok(leaking - after > 50 * HELD, `and what is kept is seen: ${leaking - after} bytes in 60 reloads`)
})

t.test('compiles a file again when it has changed, and forgets one that is gone', async (t) => {
  const root = await writeCatalog(t, { 'a.ts': '', 'b.ts': '' })
  const compiled = new CompiledModules()
  const compile = async (source: string, file: string) => await compiled.compile(source, join(root, file))
  const [a, b] = [await compile('export const a = 1', 'a.ts'), await compile('export const b = 1', 'b.ts')]
  compiled.forgetUnused()
  t.equal(await compile('export const a = 1', 'a.ts'), a)
  t.not(await compile('export const a = 2', 'a.ts'), a)
  compiled.forgetUnused()
  t.not(await compile('export const b = 1', 'b.ts'), b, 'nobody asked for it meanwhile')
})

t.test('reads a file again that has changed within one step of the clock', async (t) => {
  const root = await writeCatalog(t, {})
  const compiled = new CompiledModules()
  for (let turn = 0; turn < 50; turn++) {
    await writeInPlace(root, 'a.ts', `export const a = ${turn % 10}`)
    const graph = new ModuleGraph({ root, provided: {}, compiled })
    t.equal((await graph.load(join(root, 'a.ts'))).a, turn % 10)
    compiled.forgetUnused()
  }
})
