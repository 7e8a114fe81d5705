// Tasks ask whether they may: a caller who cannot see a tool now cannot see its tasks, though they are its
// own.

import t, { type Test } from 'tap'
import type { AppOptions } from '../../src/app.ts'
import { listen } from '../helpers/app.ts'
import { openStream, post } from '../helpers/stream.ts'
import { serveTools, TaskClient, TASKS } from './task-client.ts'

const FORM = "elicit.form({ message: 'Who?', schema: { type: 'object', properties: {} } })"
const ASKS = `async (_, ctx) => { await ctx.sleep(1000); await ctx.ask({ go: ${FORM} })
  return ctx.principal.scopes.has('more') ? 'with more' : 'without' }`
const TOOLS = {
  hidden: ["task: 'allowed', scopes: ['books']", ASKS],
  guarded: ["task: 'allowed', scopes: ['books'], whenMissing: 'challenge'", ASKS]
} as const
const UNKNOWN = 'task_0000000000000000000000'
const ANSWER = { go: { action: 'accept', content: {} } }

/** Takes the header `Authorization` as the name of the caller, and then its scopes. */
const scoped: Pick<AppOptions, 'authenticator'> = {
  authenticator: {
    authenticate (authorization = '') {
      const [subject = '', ...scopes] = authorization.split(' ')
      return { subject, scopes: new Set(scopes) }
    }
  }
}

async function begin (t: Test, tool: keyof typeof TOOLS) {
  const url = await listen(await serveTools(t, TOOLS, scoped))
  const as = (user: string) => new TaskClient(async (parts) => await post(t, url, parts), { user })
  const { taskId } = await as('ada books').call(tool)
  const follow = async (user: string, ids: readonly string[]) => await openStream(t, url, {
    method: 'subscriptions/listen',
    params: { notifications: { taskIds: ids } },
    id: 'sub',
    headers: { authorization: user },
    meta: { 'io.modelcontextprotocol/clientCapabilities': TASKS }
  })
  return { taskId, as, follow }
}

t.test('to a weaker token of the same subject the tasks of hidden tools do not exist', async (t) => {
  const { taskId, as, follow } = await begin(t, 'hidden')
  const weak = as('ada')
  t.strictSame(await weak.get(taskId), await weak.get(UNKNOWN))
  t.strictSame(await weak.update(taskId, ANSWER), await weak.update(UNKNOWN, ANSWER))
  t.strictSame(await weak.cancel(taskId), await weak.cancel(UNKNOWN))
  const stream = await follow('ada', [taskId])
  t.strictSame((await stream.next()).params.notifications, { taskIds: [] })
  await as('ada books').until(taskId, 'input_required')
  t.equal(stream.messages.length, 1, 'and the stream hears nothing')
})

t.test('a token without the scope of a tool that challenges is told what it lacks', async (t) => {
  const { taskId, as } = await begin(t, 'guarded')
  const { status, response } = await as('ada').send('tasks/get', { taskId })
  t.strictSame([status, response.error.message], [403, 'Insufficient scope: this needs books'])
})

t.test('the handler runs again with the scopes of who answered', async (t) => {
  for (const [user, text] of [['ada books more', 'with more'], ['ada books', 'without']] as const) {
    const { taskId, as } = await begin(t, 'hidden')
    await as('ada books').until(taskId, 'input_required')
    await as(user).update(taskId, ANSWER)
    t.match(await as(user).until(taskId, 'completed'), { result: { content: [{ text }] } })
  }
})
