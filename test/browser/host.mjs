// The page of a host, for a browser: the official client and the official bridge. It shows the screen of a
// tool in a sandbox of another origin, as the specification asks of hosts that are web pages.
// https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx#sandbox-proxy

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  AppBridge, getToolUiResourceUri, PostMessageTransport
} from '@modelcontextprotocol/ext-apps/app-bridge'
import { answerByDialog } from './confirm-dialog.mjs'

const INFO = { name: 'test-host', version: '1.0.0' }
const { service, sandbox, revision } = Object.fromEntries(new URLSearchParams(window.location.search))

/** What the test looks at. */
const seen = { contexts: [], sizes: [], renders: 0, meta: undefined }
window.seen = seen

const client = new Client(INFO, {
  versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' },
  capabilities: {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }
  }
})

answerByDialog(client)

let bridge

/** Calls the tool, and shows its screen with the result. */
window.openTool = async (name, args) => {
  await client.connect(new StreamableHTTPClientTransport(new URL(service)))
  const { tools } = await client.listTools()
  const tool = tools.find((one) => one.name === name)
  const uri = getToolUiResourceUri(tool)
  const result = await client.callTool({ name, arguments: args })
  await show(uri, { tool, args, result })
  client.setNotificationHandler('notifications/resources/updated', async ({ params }) => {
    if (params.uri === uri) await show(uri, { tool, args, result })
  })
  if (revision === '2026-07-28') await client.listen({ resourceSubscriptions: [uri] })
  else await client.subscribeResource({ uri })
}

window.setTheme = (theme, variables = CONTEXT.styles.variables) => {
  bridge.setHostContext({ ...CONTEXT, styles: { variables }, theme })
}

const CONTEXT = {
  theme: 'light',
  locale: 'en-IE',
  styles: { variables: { '--color-text-primary': 'rgb(10, 20, 30)' } },
  containerDimensions: { width: 560, maxHeight: 900 }
}

async function show (uri, { tool, args, result }) {
  document.querySelector('iframe')?.remove()
  const { contents: [content] } = await client.readResource({ uri })
  const { csp, permissions } = content._meta?.ui ?? {}
  seen.meta = { mimeType: content.mimeType, ...content._meta }
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin')
  frame.style.cssText = 'width: min(560px, 100%); height: 100px; border: 0'
  document.body.append(frame)
  bridge = new AppBridge(client, INFO, { serverTools: {}, serverResources: {}, updateModelContext: {} }, {
    hostContext: { ...CONTEXT, toolInfo: { tool } }
  })
  bridge.onupdatemodelcontext = async ({ content }) => {
    seen.contexts.push(content[0].text)
    return {}
  }
  bridge.onsizechange = ({ width, height }) => {
    seen.sizes.push({ width, height })
    frame.style.height = `${height}px`
  }
  const initialized = new Promise((resolve) => { bridge.oninitialized = resolve })
  const ready = new Promise((resolve) => { bridge.onsandboxready = resolve })
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  frame.src = `${sandbox}?csp=${encodeURIComponent(JSON.stringify(csp ?? null))}`
  await ready
  await bridge.sendSandboxResourceReady({ html: content.text, csp, permissions })
  await initialized
  await bridge.sendToolInput({ arguments: args })
  await bridge.sendToolResult(result)
  seen.renders++
}
