// The official client of tasks, against three replicas behind nginx, one of which is killed.

import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client'
import t from 'tap'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import { startReplicas } from '../helpers/replicas.ts'
import { toPost } from '../helpers/request.ts'
import { TASKS } from '../features/tasks/task-client.ts'

const CATALOG = fileURLToPath(new URL('../conformance/catalog', import.meta.url))
const PROTOCOL = '2026-07-28'

if (hasRedisServer(t) && hasNginx(t)) {
  t.test('the official client drives tasks to their end, also when a replica is killed', {
    timeout: 120_000
  }, async (t) => {
    const { url, replicas } = await startReplicas(t, {
      catalog: CATALOG, environment: { TRIVET_TASK_LEASE_MS: '1000', TRIVET_WATCH: 'off' }
    })
    const clientInfo = { name: 'test', version: '1.0.0' }
    const clientCapabilities = { elicitation: {}, ...TASKS }
    const client = new Client(clientInfo, {
      versionNegotiation: { mode: { pin: PROTOCOL } }, capabilities: clientCapabilities
    })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    t.teardown(async () => await client.close())
    const asked: unknown[] = []
    const session = createTaskSessionFromClient(client, {
      endpointId: 'replicas',
      v2RequestFraming: { protocolVersion: PROTOCOL, clientInfo, clientCapabilities },
      async rawDispatch (request) {
        const { id, method, params } = Object(request)
        const { headers, body } = toPost({ id, method, params, meta: params._meta })
        // nginx may send a request to the replica that was killed.
        for (;;) {
          const answer = await fetch(url, { method: 'POST', headers, body })
          if (answer.status < 500) return JSON.parse(await answer.text())
          await pause(50)
        }
      },
      async onInputRequest (request) {
        asked.push(request)
        return JSON.parse('{ "action": "accept", "content": { "confirm": true, "name": "Ada" } }')
      }
    })
    t.teardown(async () => await session.close())
    const settle = async (name: string, args: { [name: string]: string | number } = {}) => {
      const execution = await session.callTool(name, args)
      return { kind: execution.kind, ...await execution.settle() }
    }
    t.match(await settle('greet', { name: 'Ada' }), { kind: 'immediate', outcome: { status: 'completed' } })
    const running = settle('slow_compute', { seconds: 4 })
    await replicas[0]?.kill('SIGKILL')
    for (const [name, args, text] of [
      ['confirm_delete', { filename: 'a.txt' }, /Deleted: a.txt/],
      ['multi_input', {}, /Thank you, Ada/],
      ['test_tool_with_task', {}, /Hello, Ada/],
      ['failing_job', {}, /The job failed/]
    ] as const) {
      t.match(await settle(name, args), {
        kind: 'task', outcome: { status: 'completed', result: { content: [{ text }] } }
      }, name)
    }
    t.match(await settle('protocol_error_job'), { outcome: { status: 'failed' } })
    t.match(await running, { kind: 'task', outcome: { status: 'completed' } }, 'it outlives the replica')
    t.equal(asked.length, 4)
  })
}
