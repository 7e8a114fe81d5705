// The kept results of reads are those that would be written anew, whatever the handler returns.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import type { ResourceOutput } from '../../../src/platform/author/define-resource.ts'
import { readResult } from '../../../src/catalog/compiled/results/read-result.ts'
import { createResultWriter } from '../../../src/catalog/compiled/results/result-json.ts'
import { freezeContents, UnchangedReads } from '../../../src/catalog/compiled/results/unchanged-reads.ts'
import { UNCACHED } from '../../../src/platform/protocol/primitives.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const CACHE = { ttlMs: 1000, cacheScope: 'public' } as const
const METADATA = { uri: 'note://a', mimeType: 'text/plain', cache: CACHE }
const writer = createResultWriter({ name: 'notes', version: '1' })

const TEXTS = [
  'a note', 'a naïve "note"\n', 'ノート', 'x'.repeat(10_000), 'é'.repeat(10_000), '\u{1f600}'.repeat(3000),
  'half \ud800', '', 'y'.repeat(70_000)
]

t.test('a read that is repeated gets the bytes that would be written anew', async (t) => {
  const reads = new UnchangedReads(writer)
  for (const text of TEXTS) {
    const expected = String(readResult(writer, text, METADATA))
    for (let time = 1; time <= 4; time++) {
      t.equal(String(reads.write(text, METADATA)), expected, `${text.slice(0, 8)}, read ${time}`)
    }
  }
})

t.test('the third read of a text is not written again', async (t) => {
  const reads = new UnchangedReads(writer)
  const text = 'x'.repeat(5000)
  reads.write(text, METADATA)
  reads.write(text, METADATA)
  const kept = reads.write(text, METADATA)
  t.ok(Buffer.isBuffer(kept), 'a long result is kept as bytes')
  t.equal(reads.write([...text].join(''), METADATA), kept, 'an equal text is enough')
})

t.test('the third read of contents that never change is not written again', async (t) => {
  const reads = new UnchangedReads(writer)
  const contents = { uri: 'note://a', blob: Buffer.alloc(5000) }
  const expected = readResult(writer, contents, METADATA)
  t.equal(reads.write(contents, METADATA), expected)
  t.equal(reads.write(contents, METADATA), expected)
  t.equal(typeof reads.write(contents, METADATA), 'string', 'others may have changed')
  freezeContents(contents)
  t.equal(reads.write(contents, METADATA), expected)
  t.equal(reads.write(contents, METADATA), expected)
  const kept = reads.write(contents, METADATA)
  t.ok(Buffer.isBuffer(kept))
  t.equal(String(kept), expected)
  t.equal(reads.write(contents, METADATA), kept)
  t.not(reads.write(freezeContents({ ...contents }), METADATA), kept, 'of these contents only')
})

t.test('another text of the same length, and another length, are answered at once', async (t) => {
  const reads = new UnchangedReads(writer)
  for (const text of ['one', 'one', 'one', 'two', 'two', 'one', 'three', 'three', 'one', 'one']) {
    t.equal(String(reads.write(text, METADATA)), String(readResult(writer, text, METADATA)), text)
  }
})

t.test('half a character is not taken for the sign that replaces it', async (t) => {
  const reads = new UnchangedReads(writer)
  for (const text of ['a\ud800b', 'a\ud800b', 'a\ufffdb', 'a\ufffdb', 'a\ufffdb', 'a\ud800b']) {
    t.equal(String(reads.write(text, METADATA)), String(readResult(writer, text, METADATA)))
  }
})

t.test('a result that must not be cached is not one that may be', async (t) => {
  const reads = new UnchangedReads(writer)
  for (const cache of [CACHE, CACHE, UNCACHED, UNCACHED, UNCACHED, CACHE]) {
    const metadata = { ...METADATA, cache }
    t.equal(String(reads.write('one', metadata)), String(readResult(writer, 'one', metadata)))
  }
})

t.test('resources do not get the results of others', async (t) => {
  const reads = new UnchangedReads(writer)
  for (const uri of ['note://a', 'note://b', 'note://a', 'note://b', 'note://a', 'note://b']) {
    t.match(String(reads.write('one', { ...METADATA, uri })), `"uri":"${uri}"`)
  }
})

t.test('all other outputs are written as before', async (t) => {
  const reads = new UnchangedReads(writer)
  const contents = { uri: 'note://a', text: 'one' }
  const outputs: ResourceOutput[] = [new Uint8Array([1, 2, 3]), contents, { contents: [contents] }]
  for (const output of [...outputs, ...outputs, ...outputs]) {
    t.equal(reads.write(output, METADATA), readResult(writer, output, METADATA))
  }
  t.equal(reads.write(undefined, METADATA), undefined)
})

t.test('what is kept has a bound', async (t) => {
  const reads = new UnchangedReads(writer)
  const before = await memory()
  for (let index = 0; index < 2000; index++) {
    for (let time = 0; time < 3; time++) {
      reads.write(`${index} `.repeat(60_000).slice(0, 60_000), { ...METADATA, uri: `note://${index}` })
    }
  }
  const growth = (await memory() - before) / 2 ** 20
  t.ok(growth < 24, `120 MB of texts grew the memory by ${growth.toFixed(1)} MiB`)
  t.equal(typeof reads.write('one', METADATA), 'string')
})

/** The bytes of buffers are free a turn after the collection that finds them. */
async function memory (): Promise<number> {
  collect()
  await nextTurn()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
