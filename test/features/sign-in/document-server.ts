// Serves metadata documents of clients over https on this machine. Every host name leads there.

import { readFile } from 'node:fs/promises'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import https, { createServer } from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo, LookupFunction } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createPublicFetch, type PublicFetch } from '../../../src/features/sign-in/engine/public-fetch.ts'
import { makeCertificate } from '../../helpers/certificates.ts'
import { makeFolder } from '../../helpers/folder.ts'

export interface DocumentServer {
  /** Such as `https://client.example:1234`. */
  readonly origin: string
  readonly fetch: PublicFetch
  /** The paths that were asked for. */
  readonly asked: readonly string[]
  /** Lets all https requests of the process come here until the test ends, also those of the service. */
  takeInternet (t: Test): void
  /** What is served at each path. */
  readonly answers: Map<string, object | RequestListener>
}

export async function startDocumentServer (t: Test): Promise<DocumentServer> {
  const folder = await makeFolder(t)
  await makeCertificate(folder, 'server', 'client.example', 'DNS:client.example,IP:127.0.0.1')
  const cert = await readFile(join(folder, 'server.crt'), 'utf8')
  const asked: string[] = []
  const answers = new Map<string, object | RequestListener>()
  const key = await readFile(join(folder, 'server.key'))
  const server = createServer({ cert, key }, (request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = answers.get(path)
    if (typeof answer === 'function') Reflect.apply(answer, undefined, [request, response])
    else response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const fetch = createPublicFetch({
    allowPrivate: true,
    ca: cert,
    resolveHost: (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])
  })
  function takeInternet (t: Test): void {
    const { get } = https
    const ask = (url: URL, options: object) => get(url, { ...options, ca: cert, lookup: resolveHere })
    Object.assign(https, { get: ask })
    syncBuiltinESMExports()
    t.teardown(() => {
      Object.assign(https, { get })
      syncBuiltinESMExports()
    })
  }

  return { origin: `https://client.example:${port}`, fetch, asked, answers, takeInternet }
}

const resolveHere: LookupFunction = (_host, { all }, callback) => {
  if (all === true) callback(null, [{ address: '127.0.0.1', family: 4 }])
  else callback(null, '127.0.0.1', 4)
}
