// Requests of a session that come while the catalog is brought into the form of their revision: they wait, in
// their order, and what ends a call ends one that waits too.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createService } from '../../../../src/app/app.ts'
import { writeCatalog } from '../../../helpers/catalog-folder.ts'
import { until } from '../../../helpers/deadline.ts'

const TOOLS = 3000
const REVISION = '2025-06-18'

const source = (version: number) => `
  import { defineTool } from 'trivet'
  export default [
    ...Array.from({ length: ${TOOLS} }, (_, index) => defineTool({
      name: 'tool_' + index, description: 'Version ${version}.', run: () => 'ok'
    })),
    defineTool({
      name: 'slow',
      description: 'Ends when it is stopped.',
      run: async (_, ctx) => await new Promise((resolve) => {
        ctx.signal.addEventListener('abort', () => resolve('stopped'))
      })
    })
  ]`

async function open (t: Test) {
  const catalog = await writeCatalog(t, { 'tools/all.ts': source(1) })
  const service = await createService({ catalog, watch: 'off', stateUrl: 'memory:', logLevel: 'silent' })
  t.teardown(async () => await service.close())
  const { app } = service

  async function send (body: object | undefined, session?: string, method: 'POST' | 'DELETE' = 'POST') {
    return await app.inject({
      method,
      url: '/mcp',
      headers: {
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session })
      },
      ...(body !== undefined && { payload: body })
    })
  }

  async function begin (): Promise<string> {
    const clientInfo = { name: 'client', version: '1' }
    const params = { protocolVersion: REVISION, capabilities: {}, clientInfo }
    const { headers } = await send({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
    return String(headers['mcp-session-id'])
  }

  let version = 1
  /** Loads other tools: the next request of each revision finds no form of them. */
  async function reload (): Promise<void> {
    const before = service.catalog.current
    await writeFile(join(catalog, 'tools/all.ts'), source(++version))
    service.reload()
    await until(() => service.catalog.current !== before, 'the reload')
  }

  return { send, begin, reload }
}

const call = { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'slow', arguments: {} } }
const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } }

t.test('a call that waits is cancelled by what comes after it', async (t) => {
  const { send, begin, reload } = await open(t)
  const session = await begin()
  for (const waitMs of [0, 5]) {
    await reload()
    const answer = send(call, session)
    await pause(waitMs)
    t.equal((await send(cancel, session)).statusCode, 202)
    t.notMatch((await answer).body, 'result', `cancelled after ${waitMs} ms`)
  }
})

t.test('a call that waits does not begin in a session that has ended', async (t) => {
  const { send, begin, reload } = await open(t)
  const session = await begin()
  await reload()
  const answer = send(call, session)
  t.equal((await send(undefined, session, 'DELETE')).statusCode, 204)
  const { statusCode, body } = await answer
  t.ok(statusCode === 404 || !body.includes('result'), body)
})

t.test('many requests that wait are answered, each with its own answer', async (t) => {
  const { send, begin, reload } = await open(t)
  const session = await begin()
  await reload()
  const answers = await Promise.all(Array.from({ length: 200 }, async (_, id) => await send({
    jsonrpc: '2.0', id, method: 'tools/call', params: { name: `tool_${id}`, arguments: {} }
  }, session)))
  t.strictSame(answers.map(({ body }) => JSON.parse(body.replace(/^[^{]*data: /s, '')).id), [...answers.keys()])
})
