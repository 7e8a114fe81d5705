// Calls end with their requests, with their catalog and with the service, and leave nothing behind.

import t from 'tap'
import { createService } from '../../../src/app/app.ts'
import { createLoadGuard } from '../../../src/catalog/compiled/load-guard.ts'
import { listen } from '../../helpers/app.ts'
import { writeCatalog, writeInPlace } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send } from '../../helpers/request.ts'
import { startRequest } from '../../helpers/stream.ts'
import { crmModule, openCaller, startUpstream, textOf } from './upstream-server.ts'

t.test('a client that leaves ends the call of the upstream', async (t) => {
  let isGone = false
  const upstream = await startUpstream(t, (_, response) => { response.on('close', () => { isGone = true }) })
  const { app } = await openCaller(t, upstream, {
    run: 'async (_, ctx) => (await ctx.fetch(crm, "x")).status'
  })
  const url = await listen(app)
  const request = startRequest(t, url, { method: 'tools/call', params: { name: 'call', arguments: {} } })
  await until(() => upstream.requests === 1, 'the call')
  request.answer.catch(() => {})
  request.abort()
  await until(() => isGone, 'the end of the call')
})

t.test('the time limit of the tool ends the call, with its body', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/body') response.write('a')
  })
  const { call } = await openCaller(t, upstream, {
    tool: 'timeoutMs: 200,',
    run: 'async ({ path }, ctx) => await (await ctx.fetch(crm, path)).text()'
  })
  for (const path of ['head', 'body']) {
    t.equal(textOf(await call({ path })), 'call did not finish within 200 ms and was stopped.')
    await until(() => upstream.sockets.size === 0, 'the end of the call')
  }
})

t.test('what a handler has not read, or not awaited, ends with its request', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/large') response.end(Buffer.alloc(5_000_000))
    else if (url === '/api/endless') response.write('a')
  })
  const { call, log } = await openCaller(t, upstream, {
    run: `async (_, ctx) => {
      const answers = [await ctx.fetch(crm, 'large'), await ctx.fetch(crm, 'endless')]
      ctx.fetch(crm, 'hang')
      globalThis.kept = { ctx, crm, body: answers[1].text() }
      globalThis.kept.body.catch(() => {})
      return answers.map(({ status }) => status).join()
    }`
  })
  for (let count = 0; count < 30; count++) t.equal(textOf(await call()), '200,200')
  await until(() => upstream.sockets.size === 0, 'all connections to be closed')
  const { ctx, crm, body } = Reflect.get(globalThis, 'kept')
  await t.rejects(body, { message: 'the request has ended' })
  await t.rejects(ctx.fetch(crm, 'x'), { message: /the request has ended; await every call/ })
  Reflect.deleteProperty(globalThis, 'kept')
  const lines = log.lines.filter(({ msg }) => msg === 'upstream call')
  t.equal(lines.filter(({ outcome }) => outcome === 'ok').length, 60)
  t.equal(lines.filter(({ outcome }) => outcome === 'cancelled').length, 30)
})

t.test('small answers that nobody reads keep their connections in use', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end('small'))
  const { call } = await openCaller(t, upstream, {
    run: 'async (_, ctx) => (await ctx.fetch(crm, "x")).status'
  })
  for (let count = 0; count < 100; count++) await call()
  t.ok(upstream.connections < 20, `${upstream.connections} connections for 100 calls`)
})

t.test('a signal of the handler ends the call', async (t) => {
  const upstream = await startUpstream(t, () => {})
  const { call } = await openCaller(t, upstream, {
    run: `async (_, ctx) => await ctx.step('x', { timeoutMs: 100 }, async (signal) => {
      return await ctx.fetch(crm, 'x', { signal })
    }).catch((error) => error.name)`
  })
  t.match(textOf(await call()), /Error$/)
  await until(() => upstream.sockets.size === 0, 'the end of the call')
})

t.test('a step tries again what may pass, and not what stays', async (t) => {
  let count = 0
  const upstream = await startUpstream(t, ({ url }, response) => {
    count++
    if (url === '/api/moved') response.writeHead(302, { location: '/' }).end()
    else if (count < 3) response.destroy()
    else response.end('ok')
  })
  const { call } = await openCaller(t, upstream, {
    definition: 'retry: false',
    run: `async ({ path }, ctx) => await ctx.step('x', { retries: 3, backoffMs: 1 }, async () => {
      return await (await ctx.fetch(crm, path)).text()
    })`
  })
  t.equal(textOf(await call({ path: 'lost' })), 'ok')
  t.equal(count, 3)
  t.match(textOf(await call({ path: 'moved' })), 'refers to another place')
  t.equal(count, 4)
})

t.test('a tool with dedupe does not keep the outage of an upstream as its answer', async (t) => {
  const upstream = await startUpstream(t, (_, response) => {
    if (upstream.requests === 1) response.destroy()
    else response.end(String(upstream.requests))
  })
  const { app } = await openCaller(t, upstream, {
    definition: 'retry: false',
    tool: 'dedupe: true, annotations: { idempotentHint: true },',
    run: "async (_, ctx) => await (await ctx.fetch(crm, 'x')).text()"
  })
  const texts = []
  for (let count = 0; count < 3; count++) {
    const params = { name: 'call', arguments: {} }
    const { response } = await send(app, {
      method: 'tools/call', params, headers: { 'idempotency-key': 'k1' }
    })
    texts.push(textOf(response.result))
  }
  t.match(texts, [/could not be reached/, '2', '2'])
})

async function openReloading (t: Parameters<typeof startUpstream>[0], url: string, options = {}) {
  const module = (definition: string) => crmModule(url, definition)
  const root = await writeCatalog(t, {
    'lib/crm.ts': module('auth: { type: "none" }'),
    'tools/call.ts': `import { defineTool } from 'trivet'
      import { crm } from '../lib/crm.ts'
      export default defineTool({
        name: 'call', inputSchema: { type: 'object' },
        async run ({ path }, ctx) {
          ctx.progress(1)
          return await (await ctx.fetch(crm, path)).text()
        }
      })`
  })
  const log = createReadableLog('debug')
  const { app } = await createService(
    { ...QUIET, watch: 'on', catalog: root, logger: log.logger, ...options }, { guard: createLoadGuard() }
  )
  t.teardown(async () => await app.close())
  const call = async (path: string) => {
    const params = { name: 'call', arguments: { path } }
    const { response } = await send(app, { method: 'tools/call', params })
    return textOf(response.result ?? response.error)
  }
  return { app, root, log, call, module }
}

t.test('a reload keeps calls in flight, and closes the old connections after them', async (t) => {
  const ends: Array<() => void> = []
  const keys: unknown[] = []
  const upstream = await startUpstream(t, ({ url, headers }, response) => {
    keys.push(headers['x-key'])
    if (url === '/api/slow') ends.push(() => response.end('slow'))
    else response.end('quick')
  })
  const { root, log, call, module } = await openReloading(t, upstream.url)
  const slow = call('slow')
  await until(() => ends.length === 1, 'the slow call')
  const reloads = () => log.lines.filter(({ msg }) => msg === 'catalog reloaded').length
  await writeInPlace(root, 'lib/crm.ts', module("auth: { type: 'secret', header: 'x-key', value: 'k2' }"))
  await until(() => reloads() === 1, 'the reload', 20_000)
  t.equal(await call('quick'), 'quick')
  t.strictSame(keys, [undefined, 'k2'])
  t.ok(upstream.sockets.size >= 2)
  for (const end of ends) end()
  t.equal(await slow, 'slow')
  await until(() => upstream.sockets.size <= 1, 'the old connections to be closed')
  // A module that does not change keeps its pool.
  const { connections } = upstream
  await writeInPlace(root, 'tools/other.ts', `import { defineTool } from 'trivet'
    export default defineTool({ name: 'other', run: () => 'x' })`)
  await until(() => reloads() === 2, 'the second reload', 20_000)
  t.equal(await call('quick'), 'quick')
  t.equal(upstream.connections, connections)
})

t.test('a shutdown ends calls within its deadline, and closes all connections', async (t) => {
  const upstream = await startUpstream(t, () => {})
  const { app, call } = await openReloading(t, upstream.url, { shutdownTimeoutMs: 300 })
  const running = call('hang')
  await until(() => upstream.requests === 1, 'the call')
  const begin = performance.now()
  await app.close()
  t.ok(performance.now() - begin < 3000)
  t.match(await running, /cancel|shutting down|closing/i)
  await until(() => upstream.sockets.size === 0, 'the connections to be closed')
})
