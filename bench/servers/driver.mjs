// Runs a server and the load generator in one process, and measures the CPU time of a request for both
// together. No process has to be woken, and a batch takes only milliseconds. The compared builds can
// therefore take turns faster than the speed of a shared machine changes.

import { Server } from 'node:net'
import { withConnections } from '../load/sender.mjs'
import { createRings, forServer, openSessions } from '../requests/rings.mjs'

const CONNECTIONS = 8
const BATCH = 64
const WARM_BATCHES = 150

const { file, toolCount, ids } = JSON.parse(process.env.BENCH_DRIVE)

const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () => {
    const { port } = this.address()
    // A service also listens on a socket in the folder of its state, which has no port.
    if (port !== undefined) drive(`http://127.0.0.1:${port}/mcp`)
  })
  return Reflect.apply(listen, this, args)
}
await import(file)

function drive (url) {
  const targets = new Map()
  process.on('message', async ({ prepare, measure: key }) => {
    if (prepare === undefined) {
      process.send({ cpuUs: await measure(targets.get(key), 1) })
      return
    }
    const { key: name, method, isLegacy } = prepare
    const sessions = isLegacy ? await openSessions(url) : undefined
    const rings = createRings({ method, toolCount, ids, sessions }).slice(0, CONNECTIONS)
    targets.set(name, { url, rings: forServer(rings) })
    process.send({ cpuUs: await measure(targets.get(name), WARM_BATCHES) })
  })
  process.send({ listening: true })
}

/** @returns {Promise<number>} the CPU time of one request, in microseconds */
async function measure (target, batches) {
  return withConnections(target, async (connections, hooks) => {
    await Promise.race([answerAll(connections, hooks, connections.length), hooks.failed])
    const before = process.cpuUsage()
    await Promise.race([answerAll(connections, hooks, batches * BATCH), hooks.failed])
    const { user, system } = process.cpuUsage(before)
    return (user + system) / (batches * BATCH)
  })
}

function answerAll (connections, hooks, total) {
  return new Promise((resolve) => {
    let sent = connections.length
    let answered = 0
    hooks.onAnswer = (connection) => {
      if (++answered === total) resolve()
      else if (sent++ < total) connection.send(0)
    }
    for (const connection of connections) connection.send(0)
  })
}
