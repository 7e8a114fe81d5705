// The official client in a process of its own: Node reads trusted certificates (NODE_EXTRA_CA_CERTS) when it
// starts. Calls a tool of the example catalog at the URL that is the argument, and prints the result.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])))
const { structuredContent } = await client.callTool({ name: 'search_books', arguments: { query: 'whale' } })
console.log(JSON.stringify(structuredContent))
await client.close()
