// The probe of a replica that is a process of its own: it writes what handlers do to a file that all replicas
// share. Each line is written at once, so their order is that of the events, and a kill loses none of them.

import { appendFileSync, readFileSync } from 'node:fs'

const { SIMULATION_NOTES: notes = '', SIMULATION_SPEED: speed = '1' } = process.env

function note (what, ...args) {
  appendFileSync(notes, `${JSON.stringify({ pid: process.pid, at: Date.now(), what, args })}\n`)
}

/** Notes the beginning of something. Returns the arguments of all beginnings of that kind so far. */
function count (what, ...args) {
  note(what, ...args)
  const lines = readFileSync(notes, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line))
  return lines.filter((line) => line.what === what).map((line) => String(line.args))
}

let runs = 0

/** Notes the call of a handler. Returns the name of its run. */
function begin (what, job, scopes) {
  const run = `${job} run ${process.pid}-${++runs}`
  note(what, job, scopes, run)
  return run
}

const probe = {
  called: (...args) => begin('called', ...args),
  left: (...args) => note('left', ...args),
  begin (job, key, run) {
    const all = count('begin', job, key, run)
    return `${job} ${key} ${all.filter((one) => one.startsWith(`${job},${key},`)).length}`
  },
  failed: (...args) => note('failed', ...args),
  answered: (...args) => note('answered', ...args),
  sleeping: (...args) => note('sleeping', ...args),
  // Nobody sees the record, and nobody retries.
  strays: () => false,
  isMended: () => false,
  slept: (job, key, ms) => note('slept', job, key, ms * Number(speed)),
  recalled: (...args) => note('recalled', ...args),
  acknowledged: (...args) => note('acknowledged', ...args),
  created: (...args) => note('created', ...args),
  undoing: (...args) => begin('undoing', ...args),
  undone: (job) => note('undone', job),
  order (key, caller) {
    const all = count('order', key, caller)
    const own = all.filter((one) => one === `${key},${caller}`)
    return `${key} of ${caller} ${all.length} #${own.length}`
  },
  ordered: (...args) => note('ordered', ...args),
  pause: async (ms, signal) => await new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms / Number(speed))
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  }),
  async crash (job, by) {
    note('crash', job, by)
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {})
  }
}
Object.assign(globalThis, { [Symbol.for('trivet.simulation')]: probe })
