// The probe of a replica that is a process of its own: it writes what handlers do to a file that all replicas
// share. Each line is written at once, so their order is that of the events, and a kill loses none of them.

import { appendFileSync, readFileSync } from 'node:fs'

const { SIMULATION_NOTES: notes = '', SIMULATION_SPEED: speed = '1' } = process.env

function note (what, ...args) {
  appendFileSync(notes, `${JSON.stringify({ pid: process.pid, what, args })}\n`)
}

/** Notes the beginning of something. Returns the arguments of all beginnings of that kind so far. */
function count (what, ...args) {
  note(what, ...args)
  const lines = readFileSync(notes, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line))
  return lines.filter((line) => line.what === what).map((line) => String(line.args))
}

const probe = {
  called: (job) => note('called', job),
  left: (job) => note('left', job),
  begin (job, key) {
    const all = count('begin', job, key)
    return `${job} ${key} ${all.filter((one) => one === `${job},${key}`).length}`
  },
  acknowledged: (...args) => note('acknowledged', ...args),
  created: (...args) => note('created', ...args),
  undoing: (job) => note('undoing', job),
  undone: (job) => note('undone', job),
  order (key, caller) {
    const all = count('order', key, caller)
    const own = all.filter((one) => one === `${key},${caller}`)
    return `${key} of ${caller} ${all.length} #${own.length}`
  },
  ordered: (...args) => note('ordered', ...args),
  pause: async (ms) => await new Promise((resolve) => { setTimeout(resolve, ms / Number(speed)) }),
  async crash (job, by) {
    note('crash', job, by)
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {})
  }
}
Object.assign(globalThis, { [Symbol.for('trivet.simulation')]: probe })
