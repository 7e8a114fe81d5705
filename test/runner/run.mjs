// Runs test files beside each other, and ends with "N passed, N failed".
//
//   node test/runner/run.mjs test             what needs nothing but Node, by `npm test`
//   node test/runner/run.mjs test:all         the others: see needs.mjs
//   node test/runner/run.mjs test:room NAME   a room and its contract suites: see rooms.mjs
//   node test/runner/run.mjs FILE...          each file in a process of its own, after `npm run build`
//
// Files share processes, because loading tap and the app takes more CPU time than most of them need for their
// tests. tap's own command line takes three times the CPU time: it starts a process for each file, and adds
// loaders to it and to all that it starts.
//
// With --again a file that failed beside others is run once more, alone. The counts are those of the second
// run. Both are shown.

import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildIfStale } from './building.mjs'
import { createIdleMeter, readChildrenSeconds } from './cpu.mjs'
import { isAlone, listNeeds, listTests } from './needs.mjs'
import { Group, runAlone } from './processes.mjs'
import { listRooms, listTestsOfRoom } from './rooms.mjs'
import { linkTools } from './tools.mjs'

/** Many tests wait, and do not fill the cores: further processes take a file while cores are idle. */
const PROCESSES = availableParallelism() * 2
const MAX_PROCESSES = availableParallelism() * 4
/** After a second with more idle time than this part of all cores, one more file begins. */
const IDLE_PART = 0.1
/** If more files fail, the machine was not too busy: none is run again. */
const MAX_AGAIN = 3

const { values, positionals: [first, ...others] } = parseArgs({
  allowPositionals: true,
  options: {
    again: { type: 'boolean', default: false },
    // On a busy machine the test that installs and builds a clean copy takes minutes.
    timeout: { type: 'string', default: '900' }
  }
})

const COMMANDS = {
  test: () => listTests().filter((file) => listNeeds(file).length === 0),
  'test:all': () => listTests().filter((file) => listNeeds(file).length > 0),
  'test:room' () {
    const [name] = others
    const tests = listTestsOfRoom(name)
    return tests.length > 0 ? tests : fail(`There is no room ${name}. The rooms: ${listRooms().join(', ')}`)
  }
}

function fail (reason) {
  console.error(reason)
  process.exit(1)
}

const begin = Date.now()
const command = COMMANDS[first]
const files = command === undefined ? [first, ...others].filter(Boolean) : command()
if (files.length === 0) fail('There is no test file to run')
if (command !== undefined) buildIfStale()

const folder = mkdtempSync(join(tmpdir(), 'trivet-tests-'))
const environment = { ...process.env, TAP: '1', TAP_TIMEOUT: values.timeout }
if (first === 'test') environment.PATH = linkTools(folder)
let logs = 0
const openOptions = () => ({
  log: join(folder, `${++logs}.log`), env: environment, timeoutMs: Number(values.timeout) * 1000
})
const results = []

const queue = [...files]

/** The further processes that wait for idle cores. */
const waiting = []

/** Returns the next file, for a further process once cores are idle. `undefined` if there are no more. */
async function takeFile (isFurther) {
  if (isFurther && queue.length > 0) await new Promise((resolve) => { waiting.push(resolve) })
  const file = queue.shift()
  if (queue.length === 0) for (const resolve of waiting.splice(0)) resolve()
  return file
}

/** Takes files until there are no more. */
async function work (_, index) {
  const isFurther = index >= PROCESSES
  let group
  const close = async () => { for (const result of await group?.end() ?? []) tell(result) }
  for (let file = await takeFile(isFurther); file !== undefined; file = await takeFile(isFurther)) {
    if (command === undefined || isAlone(file)) {
      tell(await runAlone(file, openOptions()))
      continue
    }
    group ??= new Group(openOptions())
    tell(await group.run(file))
    if (!group.isFull) continue
    await close()
    group = undefined
  }
  await close()
}

function tell (result) {
  const { file, passed, failed, skipped, seconds, cpuSeconds } = result
  const mark = failed > 0 ? 'FAILED' : 'ok    '
  const cpu = cpuSeconds === undefined ? '' : `, ${cpuSeconds.toFixed(1)} s of CPU`
  console.log(`${mark} ${file}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds.toFixed(1)} s${cpu}`)
  results.push(result)
}

/** A busy machine makes tests miss their time. What fails alone too is no matter of time. */
async function runFailedAgain () {
  const failures = results.filter(({ file, failed }) => failed > 0 && files.includes(file))
  const failed = failures.length > MAX_AGAIN ? [] : failures
  for (const result of failed) {
    printFailure(result)
    console.log(`\nonce more, alone: ${result.file}`)
    results.splice(results.indexOf(result), 1)
    tell(await runAlone(result.file, openOptions()))
  }
  console.log(`\nrun once more: ${failed.length}`)
}

/** The lines of one failed assertion. Its diff comes last, after the lines of its stack and its source. */
const MAX_LINES = 60

/** Prints the failed assertions with their diagnostics, or the end of the output where there are none. */
function printFailure ({ file, output, end }) {
  console.log(`\n${file}: ${end}`)
  const lines = output.split('\n').map((line) => line.slice(0, 300))
  const starts = lines.flatMap((line, index) => /^ *not ok /.test(line) ? [index] : [])
  const excerpt = starts.flatMap((start) => {
    // A test that holds the assertion: its diagnostics name only its own place.
    if (lines[start].includes(' # time=')) return [lines[start]]
    const block = lines.slice(start, start + MAX_LINES)
    const indent = block[0].search(/\S/)
    const end = block.findIndex((line, index) => index > 0 && line.search(/\S/) <= indent && line.trim() !== '')
    return end < 0 ? block : block.slice(0, end)
  })
  console.log((starts.length > 0 ? excerpt.slice(0, 400) : lines.slice(-60)).join('\n'))
}

const readIdlePart = createIdleMeter()
const filling = setInterval(() => { if (readIdlePart() > IDLE_PART) waiting.shift()?.() }, 1000)
await Promise.all(Array.from({ length: MAX_PROCESSES }, work))
clearInterval(filling)
if (values.again) await runFailedAgain()
rmSync(folder, { recursive: true })

for (const result of results.filter(({ failed }) => failed > 0)) printFailure(result)
const sum = (key) => results.reduce((total, result) => total + result[key], 0)
const [seconds, cpuSeconds] = [(Date.now() - begin) / 1000, readChildrenSeconds()].map(Math.round)
console.log(`\n${files.length} files in ${seconds} s, ${cpuSeconds} s of CPU`)
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = sum('failed') > 0 ? 1 : 0
