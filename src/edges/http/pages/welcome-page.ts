// The page that a browser gets at the endpoint: what the service is, and how to connect a client. It needs no
// token, so it says nothing of the catalog.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Replies } from '../replies.ts'
import { html, sendPage, toPage } from './page.ts'

export interface WelcomeOptions {
  /** The URL of the endpoint for clients. Without it the page has the host that the browser asked for. */
  readonly publicUrl: string | undefined
  /** The path of the endpoint in the service. */
  readonly path: string
  readonly replies: Replies
}

export function sendWelcome (
  { publicUrl, path, replies }: WelcomeOptions, request: FastifyRequest, reply: FastifyReply
): void {
  // The scheme is that of X-Forwarded-Proto if a trusted proxy sent it.
  const scheme = request.protocol === 'https' ? 'https' : 'http'
  const address = `${scheme}://${request.headers.host ?? 'localhost'}${path}`
  const url = publicUrl ?? (URL.canParse(address) ? new URL(address).href : `http://localhost${path}`)
  reply.headers({ 'cache-control': 'no-store', vary: 'Accept' })
  sendPage(reply, 200, toWelcomePage(url))
  replies.end(request, reply)
}

function toWelcomePage (url: string): string {
  const cursor = JSON.stringify({ mcpServers: { 'my-server': { url } } }, undefined, 2)
  const code = JSON.stringify({ servers: { 'my-server': { type: 'http', url } } }, undefined, 2)
  return toPage({
    title: 'An MCP server',
    body: html`<h1>This is an MCP server</h1>
<p>It offers tools and data to AI assistants over the
<a href="https://modelcontextprotocol.io">Model Context Protocol</a>. Add its address to your assistant:</p>
<pre>${url}</pre>
<p>The assistant asks you to sign in if the service needs it. If it asks for a token, ask those who run the
service.</p>
<h2>Claude</h2>
<p>Settings, Connectors, Add custom connector. The address must begin with https.</p>
<h2>Claude Code</h2>
<pre>claude mcp add --transport http my-server ${url}</pre>
<h2>Cursor</h2>
<p>In <code>.cursor/mcp.json</code>:</p>
<pre>${cursor}</pre>
<h2>VS Code</h2>
<p>In <code>.vscode/mcp.json</code>:</p>
<pre>${code}</pre>
<h2>Try it without an assistant</h2>
<pre>npx @modelcontextprotocol/inspector</pre>
<p>Choose the transport Streamable HTTP and the same address.</p>`
  })
}
