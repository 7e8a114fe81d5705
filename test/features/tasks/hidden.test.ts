// Tasks ask whether they may: a caller who cannot see a tool now cannot see its tasks, though they are its
// own.

import t, { type Test } from 'tap'
import { AuthenticationError } from '../../../src/platform/access/authentication.ts'
import type { AppOptions } from '../../../src/app/app.ts'
import { listen } from '../../helpers/app.ts'
import { outcomeOf, toVisit } from '../../helpers/outcome.ts'
import { openStream, post } from '../../helpers/stream.ts'
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

const METHODS: ReadonlyArray<readonly [method: string, params: object]> = [
  ['tasks/get', {}],
  ['tasks/update', { inputResponses: ANSWER }],
  ['tasks/update', { inputResponses: {} }],
  ['tasks/cancel', {}]
]

/** Headers whose tokens were taken back. */
const takenBack = new Set<string>()

/** Takes the header `Authorization` as the name of the caller, and then its scopes. */
const scoped: Pick<AppOptions, 'authenticator'> = {
  authenticator: {
    authenticate (authorization = '') {
      if (takenBack.has(authorization)) throw new AuthenticationError('invalid_token', 'taken back')
      const [subject = '', ...scopes] = authorization.split(' ')
      return { subject, scopes: new Set(scopes) }
    }
  }
}

async function begin (t: Test, tool: keyof typeof TOOLS) {
  const app = await serveTools(t, TOOLS, scoped)
  const url = await listen(app)
  const as = (user: string) => new TaskClient(async (parts) => await post(t, url, parts), { user })
  const { taskId } = await as('ada books').call(tool)
  const follow = async (user: string, ids: readonly string[]) => await openStream(t, url, {
    method: 'subscriptions/listen',
    params: { notifications: { taskIds: ids } },
    id: 'sub',
    headers: { authorization: user },
    meta: { 'io.modelcontextprotocol/clientCapabilities': TASKS }
  })
  /** All that the callers see of the answers to these methods, but for the id of the task. */
  const outcomesOf = async (user: string, id: string) => await Promise.all(METHODS.map(
    async ([method, params]) => await outcomeOf(app, toVisit({
      method,
      params: { taskId: id, ...params },
      headers: { authorization: user },
      meta: { 'io.modelcontextprotocol/clientCapabilities': { ...TASKS, elicitation: {} } }
    }), [id])
  ))
  return { taskId, as, follow, outcomesOf }
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

t.test('to each who may not see a task it is one that does not exist, to the byte', async (t) => {
  const { taskId, as, outcomesOf } = await begin(t, 'hidden')
  await as('ada books').until(taskId, 'input_required')
  const damaged = [taskId.slice(0, -1), `${taskId}A`, taskId.replace('task_', 'tisk_'), taskId.toLowerCase()]
  for (const user of ['ada', 'bob', 'bob books', 'Ada books']) {
    const unknown = await outcomesOf(user, UNKNOWN)
    t.strictSame(await outcomesOf(user, taskId), unknown, user)
  }
  for (const id of damaged) {
    const lengthless = (outcome: string) => outcome.replaceAll(/content-length: \d+/g, '')
    const [answers, unknown] = [await outcomesOf('ada books', id), await outcomesOf('ada books', UNKNOWN)]
    t.strictSame(answers.map(lengthless), unknown.map(lengthless), id)
  }
  const [get, unknown] = [await outcomesOf('ada books', taskId), await outcomesOf('ada books', UNKNOWN)]
  t.not(get[0], unknown[0], 'its own caller sees it')
})

t.test('a token that was taken back learns nothing of its tasks, and changes none', async (t) => {
  const { taskId, as, follow, outcomesOf } = await begin(t, 'hidden')
  await as('ada books').until(taskId, 'input_required')
  t.teardown(() => takenBack.clear())
  for (const user of ['ada books', 'eve books']) takenBack.add(user)
  const answers = await outcomesOf('ada books', taskId)
  for (const answer of answers) t.match(answer, /^401\n/)
  t.strictSame(answers, await outcomesOf('eve books', taskId), 'as a token that never was')
  t.strictSame(answers, await outcomesOf('ada books', UNKNOWN), 'whatever the task')
  t.equal((await follow('ada books', [taskId])).status, 401)
  takenBack.clear()
  t.equal((await as('ada books').get(taskId)).status, 'input_required', 'the task still waits for its answer')
})

t.test('a token without the scope of a tool that challenges is told what it lacks', async (t) => {
  const { taskId, as } = await begin(t, 'guarded')
  const { status, response } = await as('ada').send('tasks/get', { taskId })
  t.strictSame([status, response.error.message], [403, 'Insufficient scope: this needs books'])
})

t.test('the handler runs again with the scopes of who answered', async (t) => {
  const users = [['ada books more', 'with more'], ['ada books', 'without']] as const
  await Promise.all(users.map(async ([user, text]) => {
    const { taskId, as } = await begin(t, 'hidden')
    await as('ada books').until(taskId, 'input_required')
    await as(user).update(taskId, ANSWER)
    t.match(await as(user).until(taskId, 'completed'), { result: { content: [{ text }] } })
  }))
})
