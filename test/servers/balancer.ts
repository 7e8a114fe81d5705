// A load balancer that sends each request to the next replica: nothing sticks.

import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Test } from 'tap'

/** A request, and the index of the replica that answered it. */
export interface Forwarded {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly replica: number
  /** Absent while there is no answer. */
  status?: number | undefined
}

export interface BalancerOptions {
  /** At the loopback interface. */
  readonly port: number
  /** Of the replicas. */
  readonly ports: readonly number[]
  /** Returns the index of the replica for a path, or `undefined` for the next one. */
  readonly choose?: (path: string) => number | undefined
}

/** Starts a balancer, and stops it when the test ends. Resolves to the requests that it has had. */
export async function startBalancer (
  t: Test, { port, ports, choose = () => undefined }: BalancerOptions
): Promise<readonly Forwarded[]> {
  const forwarded: Forwarded[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const path = url.replace(/\?.*$/, '')
    const replica = choose(path) ?? forwarded.length % ports.length
    const entry: Forwarded = { method, path, replica }
    forwarded.push(entry)
    const to = { host: '127.0.0.1', port: ports[replica], method, path: url, headers, agent: false }
    const outgoing = send(to)
    outgoing.once('response', (incoming) => {
      entry.status = incoming.statusCode
      response.writeHead(incoming.statusCode ?? 502, incoming.headers)
      response.flushHeaders()
      pipeline(incoming, response).catch(() => response.destroy())
    })
    response.once('close', () => outgoing.destroy())
    pipeline(request, outgoing).catch(() => response.destroy())
  }).listen(port, '127.0.0.1')
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  await once(server, 'listening')
  return forwarded
}
