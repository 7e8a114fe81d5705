// Runs the test files beside each other, the longest first, and ends with "N passed, N failed". Each file is
// a process of its own. tap's command line does the same, but the loaders that it puts into each process, and
// into each process that a test starts, double the CPU time of the suite.
//
//   node test/runner/run.mjs [--checks] [FILE...]
//
// With --checks lint, type check and conformance run beside the tests. `npm run build` must have run before.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, closeSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const LOADER = new URL('register.mjs', import.meta.url).href

/** The long tests mostly wait for other processes: half of the jobs are theirs, and do not fill the cores. */
const JOBS = availableParallelism() * 2
/** On a busy machine the test that installs and builds a clean copy takes minutes. */
const TIMEOUT_SECONDS = 900

/** These begin first, in this order, so that nothing long is left over when all else has ended. */
const LONG = [
  'test/package', 'test/container', 'test/docs/blocks', 'test/replicas/', 'test/hostile', 'test/cli/init',
  'test/seams/', 'test/main', 'test/sessions-memory', 'test/http/authorization', 'test/signals',
  'test/browser/'
]

const CHECKS = [
  { name: 'lint', command: ['npm', 'run', '--silent', 'lint'] },
  { name: 'typecheck', command: ['npm', 'run', '--silent', 'typecheck'] },
  { name: 'conformance', hasCounts: true, command: [process.execPath, 'test/conformance/run.mjs'] }
]

function listTests () {
  const ranks = LONG.length + 1
  const rank = (path) => (LONG.findIndex((start) => path.startsWith(start)) + ranks) % ranks
  return readdirSync(join(PROJECT, 'test'), { recursive: true })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path}`)
    .sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))
}

const toJob = (file) => ({
  name: file, hasCounts: true, command: [process.execPath, `--import=${LOADER}`, file]
})

/** Runs a job. Its output goes to a file: a process that the job left behind could hold a pipe open. */
async function run ({ name, hasCounts = false, command: [file, ...args] }, log) {
  const descriptor = openSync(log, 'w')
  const begin = Date.now()
  const child = spawn(file, args, {
    cwd: PROJECT,
    stdio: ['ignore', descriptor, descriptor],
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: String(TIMEOUT_SECONDS) },
    timeout: TIMEOUT_SECONDS * 1000,
    killSignal: 'SIGKILL'
  })
  const [exitCode, signal] = await once(child, 'exit')
  closeSync(descriptor)
  const output = readFileSync(log, 'utf8')
  const counts = readCounts(output)
  // A job that broke off has printed no counts. Lint and type check have none.
  const brokeOff = exitCode !== 0 || (hasCounts && counts === undefined)
  const { passed, failed, skipped } = counts ?? { passed: 0, failed: 0, skipped: 0 }
  return {
    name,
    output,
    passed,
    skipped,
    seconds: (Date.now() - begin) / 1000,
    failed: failed === 0 && brokeOff ? 1 : failed,
    end: signal ?? `exit code ${exitCode}`
  }
}

/** Reads "# { total: 12, pass: 11, fail: 1 }" of a test, "conformance: 30 passed, 0 failed" of the suite. */
function readCounts (output) {
  const line = output.match(/^(# \{ total: .*|conformance: \d+ passed.*)$/gm)?.at(-1)
  const count = (pattern) => Number(line.match(pattern)?.slice(1).find(Boolean) ?? 0)
  return line && {
    passed: count(/pass: (\d+)|(\d+) passed/),
    failed: count(/fail: (\d+)|(\d+) failed/),
    skipped: count(/skip: (\d+)/)
  }
}

/** Prints the failed assertions with their diagnostics, or the end of the output where there are none. */
function printFailure ({ name, output, end }) {
  console.log(`\n${name}: ${end}`)
  const lines = output.split('\n').map((line) => line.slice(0, 300))
  const starts = lines.flatMap((line, index) => /^ *not ok /.test(line) ? [index] : [])
  const shown = new Set(starts.flatMap((start) => Array.from({ length: 16 }, (_, offset) => start + offset)))
  const excerpt = starts.length > 0 ? lines.filter((_, index) => shown.has(index)) : lines
  console.log((starts.length > 0 ? excerpt.slice(0, 200) : excerpt.slice(-60)).join('\n'))
}

const args = process.argv.slice(2)
const files = args.filter((argument) => argument !== '--checks')
const jobs = (files.length > 0 ? files : listTests()).map(toJob)
if (args.includes('--checks')) jobs.splice(2, 0, ...CHECKS)
if (jobs.length === 0) throw new Error('There is no test file to run')

const logs = mkdtempSync(join(tmpdir(), 'trivet-tests-'))
const results = []

/** @param takeNext takes a job from the list. One half of the workers begins at its end. */
async function work (takeNext) {
  for (let job = takeNext(); job !== undefined; job = takeNext()) {
    const result = await run(job, join(logs, String(jobs.length)))
    const { name, passed, failed, skipped, seconds } = result
    const mark = failed > 0 ? 'FAILED' : 'ok    '
    const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`
    console.log(`${mark} ${name}: ${counts} in ${seconds.toFixed(1)} s`)
    results.push(result)
  }
}

await Promise.all(Array.from(
  { length: JOBS }, async (_, index) => await work(() => index % 2 === 0 ? jobs.shift() : jobs.pop())
))
rmSync(logs, { recursive: true })

for (const result of results.filter(({ failed }) => failed > 0)) printFailure(result)
const sum = (key) => results.reduce((total, result) => total + result[key], 0)
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = sum('failed') > 0 ? 1 : 0
