// A page that shows screens as the console does. The official client sends the requests of the screen.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { answerByDialog } from '../../browser/confirm-dialog.mjs'
import { openScreen } from '../../../src/edges/console/page/screen/open-screen.ts'

const { service, sandbox } = Object.fromEntries(new URLSearchParams(window.location.search))

/** What the page was told. */
window.seen = { contexts: [], messages: [], links: [], logs: [], requests: [] }
const { seen } = window

const client = new Client({ name: 'test-page', version: '1.0.0' }, {
  versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: { form: {} } }
})

answerByDialog(client)

/** Calls a tool and shows its screen. `changes` replaces options of the screen. */
window.show = async (name, args = {}, changes = {}) => {
  if (client.transport === undefined) {
    await client.connect(new StreamableHTTPClientTransport(new URL(service)))
  }
  const { tools } = await client.listTools()
  const tool = tools.find((one) => one.name === name)
  const result = await client.callTool({ name, arguments: args })
  const { contents: [{ text, _meta: meta }] } = await client.readResource({ uri: tool._meta.ui.resourceUri })
  window.screenHandle = await openScreen(document.querySelector('main'), {
    sandboxUrl: sandbox,
    sandboxKey: 'key',
    resource: { text, meta: meta?.ui },
    tool,
    arguments: args,
    result,
    theme: 'light',
    signal: new AbortController().signal,
    async request (method, params) {
      seen.requests.push({ method, params })
      return await client.request({ method, params })
    },
    onContext: (text) => seen.contexts.push(text),
    onMessage: (text) => seen.messages.push(text),
    onLink: (url) => seen.links.push(url),
    onLog: (level, text) => seen.logs.push(`${level}: ${text}`),
    ...changes
  })
}
