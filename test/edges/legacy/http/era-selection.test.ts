// The era of each request, by the table in era-selection-rows.ts.

import t from 'tap'
import { buildApp } from '../../../helpers/app.ts'
import { checkSent } from '../../../helpers/wire-schema.ts'
import { ERA_SELECTION_ROWS, INITIALIZE } from './era-selection-rows.ts'

const ACCEPT = { accept: 'application/json, text/event-stream' }

for (const legacy of ['on', 'off'] as const) {
  t.test(`with the legacy era ${legacy}`, async (t) => {
    const app = await buildApp(
      t,
      {
        'tools/a.ts': "import { defineTool } from 'trivet'\nexport default defineTool({ name: 'a', " +
          "description: 'A tool.', run: () => 'ok' })"
      },
      { legacy }
    )

    async function open (revision: string): Promise<string> {
      const body = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: revision } }
      const { headers } = await app.inject({ method: 'POST', url: '/mcp', headers: ACCEPT, body })
      return String(headers['mcp-session-id'])
    }

    for (const { claim, headers = {}, body, method = 'POST', session, on, off = on } of ERA_SELECTION_ROWS) {
      if (legacy === 'off' && session !== undefined) continue
      const [status, outcome] = legacy === 'on' ? on : off
      await t.test(`answers ${claim} with ${status} ${outcome ?? ''}`, async (t) => {
        const known = session === undefined ? {} : { 'mcp-session-id': await open(session) }
        const answer = await app.inject({
          method,
          url: '/mcp',
          headers: { ...ACCEPT, ...known, ...headers },
          ...(method === 'POST' && {
            headers: { ...ACCEPT, 'content-type': 'application/json', ...known, ...headers },
            body: JSON.stringify(body)
          })
        })
        t.equal(answer.statusCode, status, answer.body)
        const message = answer.body === '' ? undefined : answer.json()
        t.equal(
          'mcp-session-id' in answer.headers, outcome === 'session',
          'only a handshake makes a session'
        )
        if (outcome === undefined) {
          t.equal(answer.body, '')
          return
        }
        if (typeof outcome === 'number') {
          t.equal(message.error?.code, outcome, answer.body)
          checkSent(message, session ?? '2026-07-28', undefined)
          return
        }
        const sent = Array.isArray(message) ? message[0] : message
        t.equal(Array.isArray(message), outcome === 'batch')
        checkSent(
          sent, outcome === 'complete' ? '2026-07-28' : session ?? '2025-11-25',
          outcome === 'session' ? 'initialize' : 'tools/list'
        )
        t.equal(sent.result.resultType, outcome === 'complete' ? 'complete' : undefined)
      })
    }
  })
}

t.test('opens a stream for a GET of a live session (326)', async (t) => {
  const app = await buildApp(t, {})
  const { headers } = await app.inject({ method: 'POST', url: '/mcp', headers: ACCEPT, body: INITIALIZE })
  const answer = await app.inject({
    method: 'GET',
    url: '/mcp',
    headers: { accept: 'text/event-stream', 'mcp-session-id': String(headers['mcp-session-id']) },
    payloadAsStream: true
  })
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['content-type'], 'text/event-stream')
  answer.stream().destroy()
})
