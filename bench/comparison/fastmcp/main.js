import { server } from './shop.js'

await server.start({
  transportType: 'httpStream',
  httpStream: { host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }
})

process.once('SIGTERM', async () => {
  await server.stop()
  process.exit(0)
})
