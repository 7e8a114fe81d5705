// Loaded into each measured Node server, before the server itself. Sends to the benchmark over IPC the
// address of the server, and its CPU time and memory.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Server } from 'node:net'
import { watchTurns } from './thread-cpu.mjs'

const RESOLUTION_MS = 1
const MEMORY_INTERVAL_MS = 20
let delays
let endTurns
let sampling
let peakBytes

const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () => {
    const address = this.address()
    // A service also listens on a socket in the folder of its state: its address is a text.
    if (typeof address === 'object') process.send?.({ listening: address })
  })
  return Reflect.apply(listen, this, args)
}

process.on('message', ({ ask }) => {
  if (ask === 'watch') watch()
  const { userCPUTime, systemCPUTime } = process.resourceUsage()
  const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1000, rssBytes: process.memoryUsage.rss() }
  process.send?.({ usage: ask === 'stopWatching' ? { ...usage, ...watched() } : usage })
})
process.channel?.unref()

/**
 * Starts to measure the stalls of the event loop and the peak of the memory. A stall counts by wall time and
 * by the thread's own CPU: other processes only add to the first.
 */
function watch () {
  endTurns = watchTurns()
  delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  peakBytes = process.memoryUsage.rss()
  const sample = () => { peakBytes = Math.max(peakBytes, process.memoryUsage.rss()) }
  sampling = setInterval(sample, MEMORY_INTERVAL_MS).unref()
}

function watched () {
  delays.disable()
  clearInterval(sampling)
  // A delay is the time from one sample to the next. In a loop that never stalls, this time is RESOLUTION_MS.
  const stalledMs = (nanoseconds) => Math.max(nanoseconds / 1e6 - RESOLUTION_MS, 0)
  return {
    longestStallMs: stalledMs(delays.max),
    longestStallCpuMs: endTurns(),
    p99StallMs: stalledMs(delays.percentile(99)),
    peakBytes
  }
}
