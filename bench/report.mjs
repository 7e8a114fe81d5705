// Results as text tables.

import { IN_FLIGHT } from './updates.mjs'

/** CPU µs: what one answer costs the server's process. It moves least when something else keeps the machine busy. */
export function printCalls ({ tools, method, bytes, peers, leftOut }) {
  console.log(`\n${method}, ${tools} tools${bytes === undefined ? '' : `, ${grouped(bytes)} bytes an answer`}`)
  printTable(['', 'req/s', 'of bare Fastify', 'of it making', 'times SDK', 'p50 ms', 'p99 ms', 'p99 of bare Fastify\'s', 'CPU µs', 'client busy'], [
    ...peers.map((peer) => [
      peer.name, grouped(peer.perSecond), rounded(peer.ofCeiling), rounded(peer.ofMakingCeiling), rounded(peer.timesSdk),
      rounded(peer.p50Ms), rounded(peer.p99Ms), rounded(peer.p99OfCeiling),
      rounded(peer.cpuUs), rounded(peer.clientBusy)
    ]),
    ...Object.entries(leftOut).map(([name, ms]) => [name, `left out: ${grouped(ms)} ms for one request`])
  ])
}

export function printGrowth ({ sizes, ratio }) {
  console.log('\nTrivet, tools/call as the catalog grows')
  printTable(['tools', 'req/s', 'CPU µs'], sizes.map(({ size, perSecond, cpuUs }) => [grouped(size), grouped(perSecond), rounded(cpuUs)]))
  console.log(`Median of ratios: ${rounded(ratio)}`)
}

/** @param {object[]} rows one for each method */
export function printLegacy (rows) {
  for (const { method, tools, revisions } of rows) {
    console.log(`\n${method} in a session beside one without, ${tools} tools`)
    printTable(['', 'bytes', 'req/s', 'of the first', 'p50 ms', 'p99 ms', 'CPU µs', 'client busy'], revisions.map((one) => [
      one.revision, grouped(one.bytes), grouped(one.perSecond), rounded(one.ofModern), rounded(one.p50Ms), rounded(one.p99Ms), rounded(one.cpuUs), rounded(one.clientBusy)
    ]))
  }
}

export function printStreams ({ streams, memory, fanOut }) {
  console.log(`\n${grouped(streams)} open streams`)
  if (memory === undefined) console.log('Memory was not measured: this system has no /proc.')
  const rows = Object.keys(fanOut.median).map((name) => [
    name, memory === undefined ? '' : rounded(memory.median[name] / 1024), rounded(fanOut.median[name])
  ])
  printTable(['', 'KiB a stream', 'one change to all, ms'], [
    ...rows, ['median of ratios', rounded(memory?.ratio), rounded(fanOut.ratio)]
  ])
}

export function printStartup ({ tools, ms, runs }) {
  console.log(`\nStart-up with ${grouped(tools)} tool files: ${grouped(ms)} ms (${runs.map(grouped).join(', ')})`)
}

export function printState ({ updates, calls, requestStates, leftOut }) {
  console.log(`\nUpdates through handles, ${IN_FLIGHT} in flight`)
  printTable(['', 'handles', 'updates/s', 'p50 ms', 'p99 ms', 'refused'], [
    ...updates.map(({ backend, handles, perSecond, p50Ms, p99Ms, refused }) => [
      backend, grouped(handles), grouped(perSecond), rounded(p50Ms), rounded(p99Ms), grouped(refused)
    ]),
    ...Object.entries(leftOut).map(([name, reason]) => [name, `left out: ${reason}`])
  ])
  for (const { backend, bytes, baskets, tools } of calls) {
    console.log(`\ntools/call, state in ${backend}, ${grouped(bytes)} bytes an answer, ${grouped(baskets)} handles`)
    printTable(['', 'req/s', 'of stateless', 'p50 ms', 'p99 ms', 'CPU µs', 'client busy'], tools.map((tool) => [
      tool.name, grouped(tool.perSecond), rounded(tool.ofStateless), rounded(tool.p50Ms), rounded(tool.p99Ms), rounded(tool.cpuUs), rounded(tool.clientBusy)
    ]))
  }
  const { bytes, tokenBytes, sealsPerSecond, opensPerSecond } = requestStates
  console.log(`\nRequest state of ${bytes} bytes, ${tokenBytes} sealed: ${grouped(sealsPerSecond)} seals/s, ${grouped(opensPerSecond)} opens/s`)
}

export function printReplicas ({ leftOut, replicas, streams, memory, fanOut }) {
  if (leftOut !== undefined) {
    console.log(`\nReplicas were left out: ${leftOut}`)
    return
  }
  console.log(`\n${grouped(streams)} streams on ${replicas} replicas: ${memory === undefined ? 'memory was not measured, this system has no /proc' : `${rounded(memory.median / 1024)} KiB a stream`}`)
  const where = { same: 'the replica that told', other: 'the other', all: 'both' }
  printTable(['one change to the listeners of', 'streams', 'first ms', 'median ms', 'last ms'], Object.entries(where).map(([key, name]) => [
    name, grouped(fanOut[key].streams), rounded(fanOut[key].firstMs), rounded(fanOut[key].medianMs), rounded(fanOut[key].lastMs)
  ]))
}

/** Leaves out what this run has not measured. */
export function printYardsticks (judged) {
  const measured = judged.filter(({ figure }) => figure !== undefined)
  if (measured.length === 0) return
  console.log('\nYardsticks')
  printTable(['', 'target', 'figure', ''], measured.map(({ name, target, figure, verdict }) => [name, target, rounded(figure), verdict]))
}

/** The first column to the left, the others to the right. A row may be shorter; its last cell may then be wide. */
function printTable (head, rows) {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row.length === head.length ? row[column].length : column === 0 ? row[0].length : 0)))
  for (const row of [head, ...rows]) {
    console.log(row.map((cell, column) => column === 0 || row.length < head.length ? cell.padEnd(widths[column]) : cell.padStart(widths[column])).join('  ').trimEnd())
  }
}

function grouped (figure) {
  return Math.round(figure).toLocaleString('en')
}

function rounded (figure) {
  if (figure === undefined || Number.isNaN(figure)) return ''
  return figure < 100 ? figure.toPrecision(3) : grouped(figure)
}
