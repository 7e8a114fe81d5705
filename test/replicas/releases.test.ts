// Tasks that must not go on in changed code, among processes of two releases.

import t from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { startService, type Service } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { TaskClient, toFiles } from '../features/tasks/task-client.ts'

const TASKS = 24
/** Without an offer, a task that was left is due again after a quarter of this time at the earliest. */
const LEASE_MS = 120_000
const FORM = "elicit.form({ message: 'Who?', schema: { type: 'object', properties: {} } })"

const toTools = (release: string) => toFiles({
  asks: ["task: 'required', onDeploy: 'fail'", `async (_, ctx) => {
    await ctx.sleep(1000); await ctx.ask({ go: ${FORM} }); return '${release}' }`],
  sleeps: ["task: 'required', onDeploy: 'fail'", `async (_, ctx) => {
    await ctx.sleep(4000); return '${release}' }`]
})

if (hasRedisServer(t)) {
  t.test('tasks go on in their code while most replicas have another one', async (t) => {
    const redis = await startRedisServer(t)
    const start = async (release: string): Promise<Service> => await startService(t, {
      TRIVET_CATALOG: await writeCatalog(t, toTools(release)),
      TRIVET_WATCH: 'off',
      TRIVET_STATE_URL: redis.url,
      TRIVET_SECRETS: 'the secret that all replicas of the test have',
      TRIVET_TASK_LEASE_MS: String(LEASE_MS)
    })
    const [earlier, ...others] = await Promise.all([start('earlier'), start('later'), start('later')])
    const [one, ...clients] = [earlier, ...others].map(
      ({ url }) => new TaskClient(async (parts) => await post(t, url, parts))
    )
    const begin = async (tool: string) => (await one?.call(tool))?.taskId ?? ''
    const tools = Array.from({ length: TASKS }, (_, index) => index % 2 === 0 ? 'asks' : 'sleeps')
    const ids = await Promise.all(tools.map(begin))
    const results = await Promise.all(ids.map(async (id, index) => {
      const client = clients[index % 4 < 2 ? 0 : 1]
      if (tools[index] === 'asks') {
        await client?.until(id, 'input_required', 25_000)
        await client?.update(id, { go: { action: 'decline' } })
      }
      const isOver = async () => ['completed', 'failed'].includes((await client?.get(id))?.status)
      await until(isOver, 'the end of the task', 25_000)
      const { result, error } = await client?.get(id) ?? {}
      return error?.message ?? result.content[0].text
    }))
    t.strictSame(results, tools.map(() => 'earlier'))
  })
}
