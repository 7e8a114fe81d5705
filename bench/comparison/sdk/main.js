import { createMcpFastifyApp } from '@modelcontextprotocol/fastify'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { handler } from './shop.js'

const handle = toNodeHandler(handler)
const app = createMcpFastifyApp()
app.all('/mcp', (request, reply) => handle(request.raw, reply.raw, request.body))
await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })

process.once('SIGTERM', async () => {
  await app.close()
  await handler.close()
})
