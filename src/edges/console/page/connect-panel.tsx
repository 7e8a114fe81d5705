// What to write into other clients, so that they use this service.

import { identity } from './connection/caller.ts'
import { consoleState } from './connection/console-state.ts'
import { toPretty } from './connection/json.ts'
import { Code } from './parts/code.tsx'

export function ConnectPanel () {
  const { endpoint = '/mcp', catalog, callers, caller } = consoleState.value ?? {}
  const url = new URL(endpoint, location.href).href
  const name = catalog?.name ?? 'my-server'
  return (
    <div class='connect'>
      {callers === 'picked' && identity.value !== undefined && (
        <p>
          The caller that is picked here calls from this page only. Other clients call as the caller
          of <code>dev --subject --scopes</code>: {caller?.subject ?? 'nobody'}.
        </p>
      )}
      {callers === 'desk' && (
        <p>
          Other clients need a token. With <code>TRIVET_AUTH=sign-in</code> the desk of <code>dev</code> gives
          them one, and asks you who signs in.
        </p>
      )}
      {toSections(url, name).map(({ client, place, text }) => (
        <section key={client}>
          <h3>{client}</h3>
          <p class='faint'>{place}</p>
          <Code text={text} label={`Configuration of ${client}`} />
        </section>
      ))}
    </div>
  )
}

function toSections (url: string, name: string) {
  return [
    {
      client: 'Claude Code',
      place: 'In a terminal:',
      text: `claude mcp add --transport http ${name} ${url}`
    },
    { client: 'Cursor', place: 'In .cursor/mcp.json:', text: toPretty({ mcpServers: { [name]: { url } } }) },
    {
      client: 'VS Code',
      place: 'In .vscode/mcp.json:',
      text: toPretty({ servers: { [name]: { type: 'http', url } } })
    },
    {
      client: 'Inspector',
      place: 'In a terminal:',
      text: `npx @modelcontextprotocol/inspector --transport http --protocol-era modern --server-url ${url}`
    },
    {
      client: 'Official client for TypeScript',
      place: 'With npm install @modelcontextprotocol/client:',
      text: [
        "import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'",
        '',
        "const client = new Client({ name: 'my-client', version: '1.0.0' })",
        `await client.connect(new StreamableHTTPClientTransport(new URL('${url}')))`,
        'console.log(await client.listTools())',
        'await client.close()'
      ].join('\n')
    }
  ]
}
