// A header counts wherever it stands among many.

import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { toPost } from '../../helpers/request.ts'

t.test('no header behind many others is dropped without a word', async (t) => {
  const { logger, lines } = createReadableLog('info')
  const url = new URL(await listen(await buildApp(t, {}, { logger, trustedProxies: ['127.0.0.1'] })))

  async function send (count: number, last: string): Promise<string> {
    const { headers, body } = toPost({ method: 'tools/list' })
    const all = { host: url.host, connection: 'close', 'content-length': body.length, ...headers }
    const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const client = connect(Number(url.port), url.hostname)
    t.teardown(() => { client.destroy() })
    client.write(`POST /mcp HTTP/1.1\r\n${head}${'a:\r\n'.repeat(count)}${last}\r\n\r\n${body}`)
    return await text(client)
  }

  t.match(await send(980, 'Origin: https://page.example'), /^HTTP\/1.1 403 /)
  t.match(await send(980, 'X-Forwarded-For: 203.0.113.7'), /^HTTP\/1.1 200 /)
  for (const count of [1000, 4000]) {
    for (const last of ['Origin: https://page.example', 'X-Forwarded-For: 203.0.113.7']) {
      const answer = await send(count, last)
      t.match(answer, /^HTTP\/1.1 431 /)
      t.match(answer, 'Invalid request: it has 1000 headers or more')
    }
  }
  t.match(lines.at(-1), { status: 431, reason: 'Invalid request: it has 1000 headers or more' })
})
