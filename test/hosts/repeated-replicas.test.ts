// Calls that are repeated on two services that share a Redis.

import t from 'tap'
import { listen } from '../helpers/app.ts'
import { until } from '../helpers/deadline.ts'
import { openSession } from '../helpers/session.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { serveTools } from '../features/tasks/task-client.ts'
import { notes, TOOLS } from './repeated-tools.ts'

if (hasRedisServer(t)) {
  t.test('a request of a session that comes again does not reach the handler of a kept call', async (t) => {
    const { url: stateUrl } = await startRedisServer(t)
    const start = async () => (
      await listen(await serveTools(t, TOOLS, { stateUrl, secrets: ['s'.repeat(32)] }))
    )
    const session = await openSession(t, await start(), { capabilities: {} })
    const other = session.with({ url: await start() })
    const call = async (client: typeof session, id: string): Promise<string> => {
      const { result } = await client.call('counts', { ms: 500 }, { id })
      return result.content[0].text
    }
    const first = call(session, 'same')
    await until(() => notes.orders?.length === 1, 'the step of the first call')
    const repeated = await Promise.all([call(session, 'same'), call(other, 'same')])
    t.strictSame(repeated, [await first, await first], 'while it runs')
    for (const one of [session, other]) t.equal(await call(one, 'same'), await first, 'after its end')
    t.equal(notes.runs?.length, 1)
    t.not(await call(other, 'another'), await first)
  })
}
