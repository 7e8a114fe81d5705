// 5,000 clients that each send all but the last bytes of 1 MB, against the built service in 512 MiB.

import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { toPost } from '../../helpers/request.ts'
import { startService } from '../../helpers/service.ts'

const SENDERS = 5000
const NETWORKS = 50
/** Clients that never complete their headers. */
const HALF_HEADERS = 1000
/** How many senders send at a time. */
const AT_ONCE = 100
const MAX_MIB = 512
const BODY_BYTES = 1_000_000
const BODY = Buffer.alloc(BODY_BYTES - 16, ' ')
const TIMEOUT_MS = 120_000

t.test('an honest client is served all the time', { timeout: TIMEOUT_MS }, async (t) => {
  const { url, child: { pid } } = await startService(t, {
    TRIVET_CATALOG: await writeCatalog(t, { 'tools/echo.ts': toolModule('echo', '', '() => "done"') }),
    TRIVET_TRUSTED_PROXIES: 'loopback',
    TRIVET_MAX_CALLS_PER_CALLER: 'off',
    TRIVET_LOG_LEVEL: 'error',
    NODE_OPTIONS: '--max-old-space-size=300'
  })
  const { host, port, hostname } = new URL(url)
  /** The most memory that the process has had, in MiB. */
  const readPeak = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

  function open (text: string): Socket {
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('error', () => {})
    t.teardown(() => { socket.destroy() })
    return socket
  }

  let refused = 0
  let lost = 0
  /** Resolves to the socket when the service has read the headers. */
  async function begin (number: number): Promise<Socket> {
    const length = number % 3 === 0 ? 'Transfer-Encoding: chunked' : `Content-Length: ${BODY_BYTES}`
    const socket = open(
      `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: 203.0.113.${number % NETWORKS}\r\n` +
      `Expect: 100-continue\r\nContent-Type: application/json\r\n${length}\r\n\r\n`
    )
    await new Promise<void>((resolve) => {
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk.toString('latin1')
        if (answer.startsWith('HTTP/1.1 100')) resolve()
      })
      socket.on('close', () => {
        if (/HTTP\/1\.1 503 [^]*Retry-After: /i.test(answer)) refused++
        else lost++
        resolve()
      })
    })
    return socket
  }

  const over = new AbortController()
  const statuses = new Map<number, number>()
  const honest = (async () => {
    for (let count = 0; !over.signal.aborted; count++) {
      const params = { name: 'echo', arguments: count % 2 === 0 ? {} : { text: 'x'.repeat(200_000) } }
      const { headers, body } = toPost({
        method: 'tools/call', params, headers: { 'x-forwarded-for': '192.0.2.1' }
      })
      const { status } = await fetch(url, { method: 'POST', headers, body })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await pause(20)
    }
  })()

  for (let count = 0; count < HALF_HEADERS; count++) {
    open(`POST /mcp HTTP/1.1\r\nHost: ${host}\r\nX-Long: ${'x'.repeat(8000)}`)
    if (count % AT_ONCE === 0) await pause(10)
  }
  const senders: Socket[] = []
  for (let count = 0; count < SENDERS; count += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, async (_, index) => await begin(count + index))
    senders.push(...await Promise.all(some))
  }
  t.comment(`${readPeak()} MiB with ${senders.length} clients whose headers have come`)
  t.equal(lost, 0)
  await Promise.all(Array.from({ length: AT_ONCE }, async (_, first) => {
    for (let number = first; number < SENDERS; number += AT_ONCE) {
      const socket = senders[number]
      if (socket === undefined || socket.destroyed) continue
      if (number % 3 === 0) socket.write(`${BODY_BYTES.toString(16)}\r\n`)
      await new Promise<void>((resolve) => {
        socket.once('close', resolve)
        socket.write(BODY, () => resolve())
      })
    }
  }))
  await until(() => refused > SENDERS * 0.9, 'the refusals', 30_000)
  over.abort()
  await honest
  t.comment(`${readPeak()} MiB, ${refused} refused, ${statuses.get(200)} served`)
  t.ok(readPeak() < MAX_MIB, `${readPeak()} MiB`)
  t.strictSame([...statuses.keys()], [200])
  t.equal(lost, 0, 'every sender is told 503')
})
