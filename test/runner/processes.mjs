// The processes of the test files. Each leads a process group, which its own children join: they end with it.
// Its output goes to a file: a process that it left behind could hold a pipe open.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readChildrenSeconds } from './cpu.mjs'
import { PROJECT } from './needs.mjs'

const LOADER = new URL('register.mjs', import.meta.url).href
const GROUP = fileURLToPath(new URL('group.mjs', import.meta.url))
/** A process that has become larger runs no more files: what test files load is never freed. */
const MAX_BYTES = 700e6
const NONE = { passed: 0, failed: 0, skipped: 0 }

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

/** Starts Node, and resolves `ended` to how it has ended: the child is gone then, and all that it started. */
function start (args, { log, env, channel = 'ignore' }) {
  const descriptor = openSync(log, 'w')
  const child = spawn(process.execPath, [`--import=${LOADER}`, ...args], {
    cwd: PROJECT, stdio: ['ignore', descriptor, descriptor, channel], env, detached: true
  })
  running.add(child)
  const ended = once(child, 'exit').then(([exitCode, signal]) => {
    running.delete(child)
    endGroup(child)
    closeSync(descriptor)
    return { exitCode, end: signal ?? `exit code ${exitCode}` }
  })
  return { child, ended }
}

/** Runs a file in a process of its own. */
export async function runAlone (file, { log, env, timeoutMs }) {
  const [begin, children] = [Date.now(), readChildrenSeconds()]
  const { child, ended } = start([file], { log, env })
  const timer = setTimeout(endGroup, timeoutMs, child)
  const { exitCode, end } = await ended
  clearTimeout(timer)
  const output = readFileSync(log, 'utf8')
  const counts = readCounts(output)
  // A file that broke off has printed no counts.
  const brokeOff = exitCode !== 0 || counts === undefined
  const { passed, failed, skipped } = counts ?? NONE
  return {
    file,
    output,
    end,
    passed,
    skipped,
    failed: failed === 0 && brokeOff ? 1 : failed,
    seconds: (Date.now() - begin) / 1000,
    // With those of other files whose processes have ended since.
    cpuSeconds: readChildrenSeconds() - children
  }
}

/** Reads "# { total: 12, pass: 11, fail: 1 }", which tap prints last. */
function readCounts (output) {
  const line = output.match(/^# \{ total: .*$/gm)?.at(-1)
  const count = (pattern) => Number(line.match(pattern)?.[1] ?? 0)
  return line && { passed: count(/pass: (\d+)/), failed: count(/fail: (\d+)/), skipped: count(/skip: (\d+)/) }
}

/** A process that runs one file after the other, as group.mjs does. */
export class Group {
  #child
  #ended
  #answers
  #options
  #failed = 0
  #isOver = false
  /** Whether it runs no more files. */
  isFull = false

  constructor (options) {
    const { child, ended } = start([GROUP], { ...options, channel: 'pipe' })
    this.#options = options
    this.#child = child
    this.#ended = ended.then((end) => {
      this.#isOver = true
      return end
    })
    this.#answers = createInterface({ input: child.stdio[3] })[Symbol.asyncIterator]()
    child.stdio[3].on('error', () => {})
  }

  async run (file) {
    const { log, timeoutMs } = this.#options
    const [begin, offset] = [Date.now(), statSync(log).size]
    const timer = setTimeout(endGroup, timeoutMs, this.#child)
    this.#child.stdio[3].write(`${file}\n`)
    const { value } = await this.#answers.next()
    clearTimeout(timer)
    const answer = value && JSON.parse(value)
    this.isFull = answer === undefined || answer.bytes > MAX_BYTES
    // The process broke off.
    const end = answer === undefined ? (await this.#ended).end : 'failed'
    const output = readFileSync(log).subarray(offset).toString('utf8')
    const result = answer ?? {
      ...NONE, failed: Math.max(this.#countOtherFailures(), 1), seconds: (Date.now() - begin) / 1000
    }
    this.#failed += result.failed
    return { ...result, file, output, end }
  }

  /** Counts the failures that belong to no file that has ended. */
  #countOtherFailures () {
    const all = readCounts(readFileSync(this.#options.log, 'utf8'))?.failed ?? 0
    return Math.max(all - this.#failed, 0)
  }

  /** Ends the process. Resolves to a failure if its files left something behind that failed. */
  async end () {
    const { log, timeoutMs } = this.#options
    const timer = setTimeout(endGroup, timeoutMs, this.#child)
    if (!this.#isOver) this.#child.stdio[3].end()
    const { exitCode, end } = await this.#ended
    clearTimeout(timer)
    const output = readFileSync(log, 'utf8')
    const failed = this.#countOtherFailures()
    if (failed === 0 && (exitCode === 0 || this.#failed > 0)) return []
    return [{ ...NONE, file: 'what files left behind', output, end, seconds: 0, failed: Math.max(failed, 1) }]
  }
}
