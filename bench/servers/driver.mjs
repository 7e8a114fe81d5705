// Runs a server and the load generator in one process, and tells what a request costs both of them together.
// Nobody has to be woken, and a batch is short enough to be undisturbed now and then, however busy the
// machine is.

import { Server } from 'node:net'
import { withConnections } from '../load/sender.mjs'
import { createRings, forServer } from '../requests/rings.mjs'

const CONNECTIONS = 8
const BATCH = 64
const WARM_BATCHES = 150

const { file, methods, toolCount, ids, batches } = JSON.parse(process.env.BENCH_DRIVE)

const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () => drive(`http://127.0.0.1:${this.address().port}/mcp`))
  return Reflect.apply(listen, this, args)
}
await import(file)

async function drive (url) {
  const figures = {}
  for (const method of methods) figures[method] = await measure(url, method)
  process.send({ figures })
}

/** @returns {Promise<number[]>} the CPU time of one request, in microseconds, for each batch */
async function measure (url, method) {
  const rings = forServer(createRings({ method, toolCount, ids }).slice(0, CONNECTIONS))
  return withConnections({ url, rings }, async (connections, hooks) => {
    const costs = []
    for (let batch = 0; batch < WARM_BATCHES + batches; batch++) {
      const before = process.cpuUsage()
      await Promise.race([answerAll(connections, hooks), hooks.failed])
      const { user, system } = process.cpuUsage(before)
      if (batch >= WARM_BATCHES) costs.push((user + system) / BATCH)
    }
    return costs
  })
}

function answerAll (connections, hooks) {
  return new Promise((resolve) => {
    let sent = connections.length
    let answered = 0
    hooks.onAnswer = (connection) => {
      if (++answered === BATCH) resolve()
      else if (sent++ < BATCH) connection.send(0)
    }
    for (const connection of connections) connection.send(0)
  })
}
