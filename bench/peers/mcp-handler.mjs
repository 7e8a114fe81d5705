// A server of mcp-handler on bare node:http, through the adapter of the official SDK. All schemas are made
// once.

import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from 'mcp-handler'
import { SERVER } from '../catalog/definitions.mjs'
import { madeOnce } from '../servers/once.mjs'
import { registerAll } from '../servers/register-all.mjs'

const handler = createMcpHandler((server) => registerAll(server, madeOnce), { serverInfo: SERVER })

createServer(toNodeHandler({ fetch: handler })).listen(0, '127.0.0.1')
