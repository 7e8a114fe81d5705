// A replica that has too much to do refuses a share of the requests before it reads them, and stays healthy.

import t from 'tap'
import { adminOriginOf, linesOf } from './helpers/admin.ts'
import { toolModule, writeCatalog } from './helpers/catalog-folder.ts'
import { until } from './helpers/deadline.ts'
import { toPost } from './helpers/request.ts'
import { startService } from './helpers/service.ts'

const FILES = {
  'tools/holds.ts': 'const held: number[][] = []\n' + toolModule('holds', '', `() => {
    for (let count = 0; count < 10; count++) held.push(new Array(65_536).fill(count + 0.5))
    return String(held.length)
  }`),
  'tools/takes.ts': toolModule('takes', '', `async () => {
    const taken = Array.from({ length: 10 }, (_, count) => new Array(65_536).fill(count + 0.5))
    await new Promise((resolve) => { setTimeout(resolve, 500) })
    return String(taken.length)
  }`),
  'tools/frees.ts': toolModule('frees', '', '() => "ok"'),
  'tools/computes.ts': toolModule('computes', '', `() => {
    const end = performance.now() + 30
    while (performance.now() < end);
    return 'done'
  }`),
  'tools/waits.ts': toolModule(
    'waits', '', "() => new Promise((resolve) => setTimeout(resolve, 1000, 'done'))"
  )
}

const call = async (url: string, name: string) =>
  await fetch(url, { method: 'POST', ...toPost({ method: 'tools/call', params: { name } }) })
/** Many more than are always admitted: some of them may wait for the CPU themselves. */
const CALLERS = 100
const catalog = await writeCatalog(t, FILES)

t.test('requests above the limit get 503 with Retry-After, and health checks do not', async (t) => {
  const service = await startService(t, {
    TRIVET_CATALOG: catalog, TRIVET_MAX_REQUESTS: '5'
  })
  const calls = Array.from({ length: 20 }, async () => await call(service.url, 'waits'))
  const answers = await Promise.all(calls)
  const served = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status === 503)
  t.equal(served.length + refused.length, 20)
  t.ok(served.length >= 5 && served.length < 20, `${served.length} are served`)
  for (const { headers } of refused) t.match(headers.get('retry-after') ?? '', /^[1-5]$/)
  t.match(await refused[0]?.json(), { jsonrpc: '2.0', error: { code: 503, message: /Nothing was done/ } })
  const { origin } = new URL(service.url)
  t.equal((await fetch(`${origin}/livez`)).status, 200)
  t.equal((await call(service.url, 'frees')).status, 200, 'there is room again')
})

t.test('a busy loop refuses some calls, serves the others in time, and tells it once', async (t) => {
  const service = await startService(t, {
    TRIVET_CATALOG: catalog, TRIVET_ADMIN_PORT: '0', TRIVET_OVERLOAD: 'on'
  })
  const statuses: number[] = []
  // A turn may serve all callers, three seconds long. Only the second such turn is too much.
  let end = performance.now() + 30_000
  const caller = async () => {
    while (performance.now() < end) {
      const answer = await call(service.url, 'computes')
      statuses.push(answer.status)
      await answer.text()
      if (answer.status !== 503) continue
      end = Math.min(end, performance.now() + 2000)
      await new Promise((resolve) => { setTimeout(resolve, 50) })
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  const count = (status: number) => statuses.filter((one) => one === status).length
  t.ok(count(200) > 30, `${count(200)} were served`)
  t.ok(count(503) > 0, `${count(503)} were refused`)
  t.equal(count(200) + count(503), statuses.length)
  const lines = () => service.stdout().split('\n').filter((line) => line.includes('"msg":"overloaded'))
  await until(() => lines().length > 0, 'the line of the log')
  t.equal(lines().length, 1)
  const text = await (await fetch(`${await adminOriginOf(service)}/metrics`)).text()
  t.strictSame(
    linesOf(text, 'trivet_shed_requests_total').find((line) => line.includes('"loop_delay"')),
    `trivet_shed_requests_total{reason="loop_delay"} ${count(503)}`
  )
})

t.test('a heap that is nearly full refuses requests before the process dies', async (t) => {
  const service = await startService(t, {
    TRIVET_CATALOG: catalog,
    NODE_OPTIONS: '--max-old-space-size=192',
    TRIVET_OVERLOAD: 'on'
  })
  let status = 200
  const isRefused = async () => {
    status = (await call(service.url, status === 200 ? 'holds' : 'frees')).status
    return status === 503
  }
  for (let count = 0; count < 100 && !await isRefused(); count++) {
    await new Promise((resolve) => { setTimeout(resolve, 150) })
  }
  t.equal(status, 503)
  t.equal((await fetch(`${new URL(service.url).origin}/livez`)).status, 200)
  await until(() => service.stdout().includes('"msg":"overloaded'), 'the line of the log')
  t.match(service.stdout(), /"memoryPercent":(?:8[1-9]|9\d)/)
})

t.test('calls that fill the heap in one turn are refused in time', { timeout: 60_000 }, async (t) => {
  const service = await startService(t, {
    TRIVET_CATALOG: catalog, NODE_OPTIONS: '--max-old-space-size=192', TRIVET_OVERLOAD: 'on'
  })
  const answers = await Promise.all(Array.from({ length: 200 }, async () => await call(service.url, 'takes')))
  const count = (status: number) => answers.filter((one) => one.status === status).length
  t.ok(count(200) > 0, `${count(200)} were served`)
  t.equal(count(200) + count(503), answers.length)
  t.equal(service.child.signalCode, null)
})
