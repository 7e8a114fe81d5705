import { PassThrough } from 'node:stream'
import t from 'tap'
import { relayLines } from '../../../src/programs/process/relayed-lines.ts'

async function relay (chunks: ReadonlyArray<string | Buffer>): Promise<string[]> {
  const stream = new PassThrough()
  const written: string[] = []
  const relaying = relayLines(stream, async (lines) => { written.push(lines) })
  for (const chunk of chunks) {
    stream.write(chunk)
    await new Promise(setImmediate)
  }
  stream.end()
  await relaying
  return written
}

t.test('passes on whole lines only', async (t) => {
  t.strictSame(await relay(['a', 'b\nc\nd', 'e\n', 'f']), ['ab\nc\n', 'de\n', 'f\n'])
  const snowman = Buffer.from('☃\n')
  const parts = [snowman.subarray(0, 1), snowman.subarray(1)]
  t.strictSame(await relay(parts), ['☃\n'], 'a character in two parts')
  t.strictSame(await relay([]), [])
})

t.test('a line that does not end is written in parts', async (t) => {
  const written = await relay(['a'.repeat(1_000_000), 'a'.repeat(1_000_000), 'b\n'])
  t.equal(written.join(''), `${'a'.repeat(2_000_000)}b\n`)
  t.ok(written.length > 1)
})

t.test('the next lines wait until those before are written', async (t) => {
  const stream = new PassThrough()
  const written: string[] = []
  let goOn = () => {}
  const relaying = relayLines(stream, async (lines) => {
    written.push(lines)
    await new Promise<void>((resolve) => { goOn = resolve })
  })
  stream.write('a\n')
  await new Promise(setImmediate)
  stream.end('b\n')
  await new Promise(setImmediate)
  t.strictSame(written, ['a\n'])
  goOn()
  await new Promise(setImmediate)
  goOn()
  await relaying
  t.strictSame(written, ['a\n', 'b\n'])
})
