// Texts that are written to a stream become lines of bounded length.

import { Writable } from 'node:stream'
import t from 'tap'
import { logStreams, MAX_LENGTH } from '../../../src/programs/process/printed-lines.ts'
import { createReadableLog } from '../../helpers/log.ts'

interface Kept { readonly stream: Writable, readonly written: string[] }

function keep (): Kept {
  const written: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write (chunk, _encoding, done) {
      written.push(String(chunk))
      done()
    }
  })
  return { stream, written }
}

function open () {
  const { logger, lines } = createReadableLog()
  const [stdout, stderr] = [keep(), keep()]
  let opened = 0
  const streams = {
    get stdout () {
      opened++
      return stdout.stream
    },
    stderr: stderr.stream
  }
  const taken = logStreams(logger, streams)
  return { streams, lines, taken, stdout, stderr, opened: () => opened }
}

t.test('joins the parts of a line, whatever their form', async (t) => {
  const { streams: { stdout }, lines, taken } = open()
  const euro = Buffer.from('€')
  stdout.write(euro.subarray(0, 1))
  stdout.write(euro.subarray(1))
  stdout.write(' a', 'utf8')
  await new Promise<void>((resolve) => { stdout.write('62630a', 'hex', () => resolve()) })
  t.match(lines, [{ msg: '€ abc' }])
  stdout.write('progress 1\rprogress 2\r\n\n')
  t.match(lines.slice(1), [{ msg: 'progress 1' }, { msg: 'progress 2' }])
  t.equal(lines.length, 3)
  stdout.write('waits')
  t.equal(lines.length, 3)
  taken.flush()
  t.match(lines[3], { msg: 'waits' })
})

t.test('cuts a text that is too long, with its end or without it', async (t) => {
  const { streams: { stderr }, lines } = open()
  stderr.write('x'.repeat(MAX_LENGTH * 2 + 1) + '\n')
  t.strictSame(lines.map(({ msg }) => msg.length), [MAX_LENGTH, MAX_LENGTH, 1])
  for (let i = 0; i < 42; i++) stderr.write('y'.repeat(MAX_LENGTH / 8))
  t.equal(lines.length, 3 + 5, 'a text without its end does not grow in memory')
})

t.test('opens a stream only when it is used, and gives it back', async (t) => {
  const { streams, lines, taken, stdout, opened } = open()
  t.equal(opened(), 0)
  streams.stdout.write('a line\npart')
  t.equal(opened(), 1)
  taken.release()
  streams.stdout.write('plain')
  streams.stderr.write('plain too')
  t.match(lines, [{ msg: 'a line' }, { msg: 'part' }])
  t.strictSame(stdout.written, ['plain'])
})

t.test('refuses what is no text, as the stream does', async (t) => {
  const { streams: { stdout }, stdout: { stream } } = open()
  stream.on('error', () => {})
  t.throws(() => stdout.write(null), { code: 'ERR_STREAM_NULL_VALUES' })
  t.throws(() => stdout.write(1), { code: 'ERR_INVALID_ARG_TYPE' })
})
