// The official clients hand a call that goes on to their model in one form only: for a tool with an output
// schema the text must be an error. Each of them continues a call to its end.

import {
  Client as CurrentClient, StreamableHTTPClientTransport as CurrentTransport
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t, { type Test } from 'tap'
import { listen } from '../helpers/app.ts'
import type { Message } from '../helpers/request.ts'
import { serveTools } from '../features/tasks/task-client.ts'
import { callOf, textOf } from './plain-client.ts'

const OUTPUT = "outputSchema: { type: 'object', required: ['size'], " +
  "properties: { size: { type: 'string' } } }"
const FORM = "elicit.form({ message: 'Which size?', schema: { type: 'object', required: ['size'], " +
  "properties: { size: { type: 'string', enum: ['S', 'L'] } } } })"
const TOOLS = {
  order_cake: [`task: 'allowed', relayQuestions: true, ${OUTPUT}`, `async (_, ctx) => {
    const { size } = await ctx.ask({ size: ${FORM} })
    await ctx.sleep(2500)
    return { size: size.content.size } }`]
} as const

interface PlainCaller {
  listTools (): Promise<unknown>
  callTool (call: { name: string, arguments?: { [name: string]: unknown } }): Promise<unknown>
  close (): Promise<void>
}

const CLIENTS: { readonly [name: string]: (url: URL) => Promise<PlainCaller> } = {
  async 'sdk 1, in a session' (url) {
    const client = new Client({ name: 'test', version: '1' })
    // Its own types are not exact about optional members.
    await client.connect(new StreamableHTTPClientTransport(url) as never)
    return client
  },
  async 'client 2, in a session' (url) {
    const client = new CurrentClient({ name: 'test', version: '1' })
    await client.connect(new CurrentTransport(url))
    return client
  },
  async 'client 2, in 2026-07-28' (url) {
    const client = new CurrentClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new CurrentTransport(url))
    return client
  }
}

/** @param marks whether texts in place of structured content are errors, as the service sends them. */
async function connect (t: Test, name: string, marks = true): Promise<PlainCaller> {
  const app = await serveTools(t, TOOLS, { taskWaitMs: 1000 })
  if (!marks) {
    app.addHook('onSend', async (_request, _reply, payload) => (
      String(payload).startsWith('{"jsonrpc"') ? String(payload).replace(',"isError":true', '') : payload
    ))
  }
  const client = await CLIENTS[name]?.(new URL(await listen(app)))
  if (client === undefined) throw new TypeError(`no client ${name}`)
  t.teardown(async () => await client.close())
  // The clients check results against the schemas of the list.
  await client.listTools()
  return client
}

for (const name of Object.keys(CLIENTS)) {
  t.test(`${name}: a call is continued through a question and a sleep`, async (t) => {
    const client = await connect(t, name)
    const call = async (tool: string, args: { [name: string]: unknown } = {}): Promise<Message> => (
      await client.callTool({ name: tool, arguments: args }) as Message
    )
    const asked = await call('order_cake')
    t.match(asked, { isError: true })
    t.match(textOf(asked), '"size" (required): one of "S", "L"')
    let result = await call('continue_call', { call: callOf(asked), answers: { size: { size: 'L' } } })
    let rounds = 0
    while (/still at work/.test(textOf(result)) && rounds++ < 20) {
      result = await call('continue_call', { call: callOf(result) })
    }
    t.match(result, { structuredContent: { size: 'L' } })
  })

  t.test(`${name}: a text that is no error is refused`, async (t) => {
    const client = await connect(t, name, false)
    await t.rejects(client.callTool({ name: 'order_cake', arguments: {} }), { message: /has an output schema/ })
  })
}
