// A server of an earlier revision: the official SDK's.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import t from 'tap'
import { z } from 'zod'
import { buildApp, listen } from '../../../helpers/app.ts'
import { toolModule } from '../../../helpers/catalog-folder.ts'
import { runProgram } from '../../../helpers/program.ts'

const transports = new Map<string, StreamableHTTPServerTransport>()

async function openSession (): Promise<StreamableHTTPServerTransport> {
  const server = new McpServer({ name: 'earlier', version: '1.0.0' })
  const inputSchema = { a: z.number(), b: z.number() }
  server.registerTool('add', { description: 'Adds.', inputSchema }, async ({ a, b }, extra) => {
    await extra.sendNotification({
      method: 'notifications/progress',
      params: { progressToken: extra._meta?.progressToken ?? 0, progress: 1 }
    })
    return { content: [{ type: 'text', text: String(a + b) }] }
  })
  server.registerTool('asks', { description: 'Asks twice.' }, async (extra) => {
    const answers: string[] = []
    for (const message of ['First?', 'Second?']) {
      const { action, content } = await server.server.elicitInput({
        message, requestedSchema: { type: 'object', properties: { word: { type: 'string' } } }
      }, { relatedRequestId: extra.requestId })
      answers.push(`${action} ${String(content?.word)}`)
    }
    return { content: [{ type: 'text', text: answers.join(', ') }] }
  })
  server.registerTool('aside', { description: 'Asks beside the call.' }, async () => {
    const { action, content } = await server.server.elicitInput({
      message: 'Aside?', requestedSchema: { type: 'object', properties: { word: { type: 'string' } } }
    })
    return { content: [{ type: 'text', text: `${action} ${String(content?.word)}` }] }
  })
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => { transports.set(id, transport) },
    onsessionclosed: (id) => { transports.delete(id) }
  })
  await server.connect(transport as Parameters<typeof server.connect>[0])
  return transport
}

async function serve (request: IncomingMessage, response: ServerResponse): Promise<void> {
  const known = transports.get(String(request.headers['mcp-session-id']))
  await (known ?? await openSession()).handleRequest(request, response)
}

const server = createServer((request, response) => { serve(request, response).catch(t.threw) })
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => { server.closeAllConnections(); server.close() })
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`

t.test('a tool of an earlier revision is called in a session, which is ended', async (t) => {
  const { out, err, exitCode } = await runProgram(['call', url, 'add', 'a=1', 'b=2'])
  t.strictSame([out, err, exitCode], ['3\n', 'progress 1\n', 0])
  t.equal(transports.size, 0)
})

t.test('its questions on the stream of the call are answered one after the other', async (t) => {
  const { out, exitCode } = await runProgram(['call', url, 'asks'], {}, ['one', '!decline'])
  t.strictSame([out, exitCode], ['accept one, decline undefined\n', 0])
  const given = await runProgram(
    ['call', url, 'asks', '--answer', 'question={"word":"a"}', 'question2=cancel']
  )
  t.equal(given.out, 'accept a, cancel undefined\n')
})

t.test('a question on the stream of the session is answered too', async (t) => {
  const answer = ['--answer', 'question={"word":"here"}']
  const { out, err, exitCode } = await runProgram(['call', url, 'aside', ...answer])
  t.strictSame([out, exitCode], ['accept here\n', 0], err)
})

t.test('lists that it does not have are empty', async (t) => {
  const { out, err, exitCode } = await runProgram(['list', url])
  const lines = ['Tools', '  add    Adds.', '  asks   Asks twice.', '  aside  Asks beside the call.', '']
  t.strictSame([out, err, exitCode], [lines.join('\n'), '', 0])
})

t.test('a service of ours that serves both eras is asked in the current revision', async (t) => {
  const files = { 'tools/rev.ts': toolModule('rev', '', '(_, ctx) => ctx.revision') }
  const ours = await listen(await buildApp(t, files))
  t.equal((await runProgram(['call', ours, 'rev'])).out, '2026-07-28\n')
})
