// The log's lines are written together, and a log that nobody reads costs a bounded amount of memory. No file
// is closed: the log writes to it until the process ends.

import { execFileSync } from 'node:child_process'
import { constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { flushLog, openLog } from '../../../src/ops/log/log.ts'
import { until } from '../../helpers/deadline.ts'
import { findIllFormed } from '../../helpers/well-formed.ts'

/** A named pipe. Its reader is this test, when it likes. */
function openPipe (t: Test): number {
  const path = join(t.testdir({}), 'pipe')
  execFileSync('mkfifo', [path])
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
}

/** What is in the pipe now. */
function readAll (fd: number): string {
  const bytes = Buffer.alloc(1024 * 1024)
  try {
    return bytes.toString('utf8', 0, readSync(fd, bytes))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return ''
    throw error
  }
}

t.test('a line is written soon, and a flush writes all that wait', async (t) => {
  const file = join(t.testdir({}), 'log')
  const fd = openSync(file, 'w')
  const { logger: log } = openLog('info', { fd })
  log.info('one')
  t.equal(readFileSync(file, 'utf8'), '', 'nobody waits for the write')
  await until(() => readFileSync(file, 'utf8').includes('one'), 'the line')
  log.info('two')
  await flushLog(log)
  t.match(readFileSync(file, 'utf8'), 'two')
})

t.test('lines that nobody reads are dropped past the limit, and counted', async (t) => {
  const fd = openPipe(t)
  const { logger: log } = openLog('info', { fd, maxWaitingLength: 100_000 })
  const text = 'x'.repeat(1000)
  const before = process.memoryUsage().rss
  for (let i = 0; i < 50_000; i++) log.info({ i, text }, 'request')
  t.ok(process.memoryUsage().rss - before < 30_000_000, 'of 50 MB few are kept')

  let received = ''
  const isOver = () => {
    received += readAll(fd)
    return /"lines":\d+.*\n/.test(received)
  }
  await until(isOver, 'the line that tells how many were dropped', 10_000)
  const lines = received.trim().split('\n').map((line) => JSON.parse(line))
  const dropped = lines.find((line) => line.lines !== undefined)
  t.match(dropped, { level: 40, msg: /dropped/ })
  t.equal(lines.filter(({ i }) => i !== undefined).length + dropped.lines, 50_000)
})

t.test('a line of fields that are JSON already has the form of any other line', async (t) => {
  const file = join(t.testdir({}), 'log')
  const fd = openSync(file, 'w')
  const { logger, writeInfo } = openLog('info', { fd })
  logger.info({ status: 200 }, 'request')
  writeInfo('"status":200', 'request')
  logger.level = 'warn'
  writeInfo('"status":201', 'request')
  await flushLog(logger)
  const [slow, fast, ...rest] = readFileSync(file, 'utf8').trimEnd().split('\n')
  const withoutTime = (line = '') => line.replace(/"time":\d{13}/, '"time":0')
  t.match(fast, /"hostname":".+"status":200/)
  t.equal(withoutTime(fast), withoutTime(slow))
  t.strictSame(rest, [], 'the level holds for it too')
})

t.test('each line is well-formed, whatever it is about', async (t) => {
  const file = join(t.testdir({}), 'log')
  const { logger, writeInfo, announce, relay } = openLog('info', { fd: openSync(file, 'w') })
  const text = 'a\ud83d'
  logger.info({ [text]: { list: [text] }, err: new Error(text) }, text)
  logger.child({ reqId: text }).info('%s', text)
  writeInfo(JSON.stringify({ text }).slice(1, -1), 'request')
  announce({ text }, text)
  await relay(`${JSON.stringify({ text, path: 'C:\\udata' })}\n`)
  const bytes = readFileSync(file)
  t.ok(Buffer.from(bytes.toString()).equals(bytes))
  const lines = bytes.toString().trimEnd().split('\n').map((line) => JSON.parse(line))
  t.strictSame(findIllFormed(lines), [])
  t.match(lines, [
    { 'a\ufffd': { list: ['a\ufffd'] }, msg: 'a\ufffd' }, { reqId: 'a\ufffd' }, { text: 'a\ufffd' }, {}, {
      path: 'C:\\udata'
    }
  ])
})
