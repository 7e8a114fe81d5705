// Runs the test files beside each other, the longest first, and ends with "N passed, N failed". A long
// file has a process of its own, and so has each FILE of the command line. Short files share processes.
// tap's own command line takes three times the CPU time: it starts a process for each file, and adds
// loaders to it and to all that it starts.
//
//   node test/runner/run.mjs [--checks] [--again] [--timeout=SECONDS] [FILE...]
//
// With --checks lint, type check and conformance run beside the tests. With --again a file that failed beside
// others is run once more, alone: the counts are those of the second run, and both are shown.
// `npm run build` must have run before.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, closeSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const LOADER = new URL('register.mjs', import.meta.url).href
const GROUP = fileURLToPath(new URL('group.mjs', import.meta.url))

/** The long tests mostly wait for other processes: half of the jobs are theirs, and do not fill the cores. */
const JOBS = Math.ceil(availableParallelism() * 2.5)
/** If more jobs fail, the machine was not too busy: none is run again. */
const MAX_AGAIN = 3
/** The most files that share a process. */
const GROUP_FILES = 16

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    checks: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    // On a busy machine the test that installs and builds a clean copy takes minutes.
    timeout: { type: 'string', default: '900' }
  }
})

/**
 * These begin first, in this order, so that nothing long is left over when all else has ended. A process of
 * its own costs a file a second of CPU: only those are here that take longer than 20 seconds, or need quiet.
 */
const LONG = [
  'test/package', 'test/container', 'test/hostile', 'test/replicas/chaos', 'test/edges/http/authorization',
  'test/simulation/', 'test/fuzz/', 'test/docs/blocks', 'test/seams/', 'test/legacy-removal',
  'test/platform/store/backends/redis/broadcast', 'test/platform/store/backends/redis/state-store.',
  'test/platform/store/backends/redis/replica-acks', 'test/platform/store/backends/redis/sentinel-votes',
  'test/platform/store/backends/postgres/outages', 'test/platform/store/backends/postgres/state-store',
  'test/replicas/legacy-', 'test/replicas/files', 'test/replicas/haproxy.', 'test/replicas/rolling-restart',
  'test/replicas/storm', 'test/replicas/tasks', 'test/replicas/two-replicas', 'test/programs/cli/init',
  'test/main', 'test/sessions-memory', 'test/signals', 'test/workers',
  'test/programs/process/worker-faults', 'test/browser/', 'test/edges/console/', 'test/features/tasks/life',
  'test/platform/store/records/principals', 'test/request/methods/hidden',
  'test/catalog/folder/watched-files', 'test/edges/legacy/http/resumption', 'test/overload',
  'test/features/upstreams/one-attacker', 'test/platform/access/one-stranger',
  'test/platform/store/start-outages', 'test/programs/process/signal-ways', 'test/edges/http/refusals',
  'test/edges/http/slow-senders'
]

/** The API of OpenTelemetry takes one provider of a process. The other counts the timers of its process. */
const ALONE = ['test/ops/tracing/', 'test/platform/store/start-leftovers']

const CHECKS = [
  { name: 'lint', command: ['npm', 'run', '--silent', 'lint'] },
  { name: 'typecheck', command: ['npm', 'run', '--silent', 'typecheck'] },
  { name: 'conformance', hasCounts: true, command: [process.execPath, 'test/conformance/run.mjs'] }
]

function listTests () {
  return readdirSync(join(PROJECT, 'test'), { recursive: true })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path}`)
    .sort()
}

function listJobs () {
  const rank = (path) => LONG.findIndex((start) => path.startsWith(start))
  const tests = listTests()
  const long = tests.filter((path) => rank(path) >= 0).sort((one, other) => rank(one) - rank(other))
  const isAlone = (path) => ALONE.some((start) => path.startsWith(start))
  const short = tests.filter((path) => rank(path) < 0)
  return [
    ...[...long, ...short.filter(isAlone)].map(toJob), ...toGroups(short.filter((path) => !isAlone(path)))
  ]
}

const toJob = (file) => ({
  name: file, hasCounts: true, command: [process.execPath, `--import=${LOADER}`, file]
})

/** Divides the files into as few groups of about the same size as possible. Those of a folder are apart. */
function toGroups (files) {
  const count = Math.ceil(files.length / GROUP_FILES)
  return Array.from(
    { length: count }, (_, index) => toGroup(files.filter((_, position) => position % count === index))
  )
}

function toGroup ([first, ...others]) {
  if (others.length === 0) return toJob(first)
  return {
    name: `${first} and ${others.length} more`,
    hasCounts: true,
    command: [process.execPath, `--import=${LOADER}`, GROUP, first, ...others]
  }
}

/** The processes of the running jobs. Each leads a process group, which its own children join. */
const running = new Set()

function endGroup (child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const child of running) endGroup(child)
    process.kill(process.pid, signal)
  })
}

/**
 * Reads the CPU seconds of all ended jobs, where there is a /proc. They include the children of a job that it
 * has waited for. Two jobs that end at the same moment are counted for one of them.
 */
function readEndedCpu () {
  if (!existsSync('/proc/self/stat')) return undefined
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ')
  // The user and system time of children, in hundredths of a second: fields 16 and 17 of proc_pid_stat(5).
  return (Number(fields[13]) + Number(fields[14])) / 100
}

let endedCpu = readEndedCpu()

/** Takes the CPU seconds of the jobs that have ended since the last call. */
function takeCpu () {
  const before = endedCpu
  endedCpu = readEndedCpu()
  return endedCpu && endedCpu - before
}

/** Runs a job. Its output goes to a file: a process that the job left behind could hold a pipe open. */
async function run ({ name, hasCounts = false, command: [file, ...args] }, log) {
  const descriptor = openSync(log, 'w')
  const begin = Date.now()
  const child = spawn(file, args, {
    cwd: PROJECT,
    stdio: ['ignore', descriptor, descriptor],
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: options.timeout },
    detached: true
  })
  running.add(child)
  const timer = setTimeout(endGroup, Number(options.timeout) * 1000, child)
  const [exitCode, signal] = await once(child, 'exit')
  const cpuSeconds = takeCpu()
  clearTimeout(timer)
  running.delete(child)
  // Ends what the job left behind.
  endGroup(child)
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
    cpuSeconds,
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

const jobs = files.length > 0 ? files.map(toJob) : listJobs()
if (options.checks) jobs.splice(2, 0, ...CHECKS)
if (jobs.length === 0) throw new Error('There is no test file to run')

const logs = mkdtempSync(join(tmpdir(), 'trivet-tests-'))
const results = []

/** @param takeNext takes a job from the list. One half of the workers begins at its end. */
async function work (takeNext) {
  for (let job = takeNext(); job !== undefined; job = takeNext()) {
    results.push(await runAndTell(job, join(logs, String(jobs.length))))
  }
}

async function runAndTell (job, log) {
  const result = await run(job, log)
  const { name, passed, failed, skipped, seconds, cpuSeconds } = result
  const mark = failed > 0 ? 'FAILED' : 'ok    '
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`
  const cpu = cpuSeconds === undefined ? '' : `, ${cpuSeconds.toFixed(1)} s of CPU`
  console.log(`${mark} ${name}: ${counts} in ${seconds.toFixed(1)} s${cpu}`)
  return { ...result, job }
}

/** A busy machine makes tests miss their time. What fails alone too is no matter of time. */
async function runFailedAgain () {
  const failed = results.filter((result) => result.failed > 0)
  if (failed.length > MAX_AGAIN) return
  for (const result of failed.filter(({ job }) => job.hasCounts === true)) {
    printFailure(result)
    console.log(`\nonce more, alone: ${result.name}`)
    results[results.indexOf(result)] = await runAndTell(result.job, join(logs, 'again'))
  }
}

await Promise.all(Array.from(
  { length: JOBS }, async (_, index) => await work(() => index % 2 === 0 ? jobs.shift() : jobs.pop())
))
if (options.again) await runFailedAgain()
rmSync(logs, { recursive: true })

for (const result of results.filter(({ failed }) => failed > 0)) printFailure(result)
const sum = (key) => results.reduce((total, result) => total + result[key], 0)
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = sum('failed') > 0 ? 1 : 0
