// Questions of tasks as single hosts need them.

import t from 'tap'
import { TASKS, serveTools } from './task-client.ts'
import { until } from '../../helpers/deadline.ts'
import { send } from '../../helpers/request.ts'

const PAY = { mode: 'url', message: 'Pay', url: 'https://pay.example/1' }
const COPILOT = 'copilot-cli'

t.test('a question by URL has the same id each time that its task is read (228)', async (t) => {
  const app = await serveTools(t, {
    order: ["task: 'required'", `async (_, ctx) => {
      await ctx.step('cart', () => 1)
      const { pay } = await ctx.ask({ pay: elicit.url({ message: 'Pay', url: 'https://pay.example/1' }) })
      return pay.action
    }`]
  })
  const ask = async (method: string, params: object, name: string) => {
    const meta = {
      'io.modelcontextprotocol/clientInfo': { name, version: '1.0.102' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} }, ...TASKS }
    }
    return (await send(app, { method, params: { ...params }, meta })).response.result
  }
  const idOf = async (name: string) => {
    const { taskId } = await ask('tools/call', { name: 'order' }, name)
    const read = async () => (await ask('tasks/get', { taskId }, name)).inputRequests?.pay.params
    await until(async () => await read() !== undefined, 'the question')
    const { elicitationId, ...params } = await read()
    t.strictSame(params, PAY)
    t.equal((await read()).elicitationId, elicitationId)
    return elicitationId
  }
  t.equal(await idOf('test'), undefined)
  const ids = [await idOf(COPILOT), await idOf(COPILOT)]
  t.match(ids, [/^task_/, /^task_/])
  t.not(ids[0], ids[1])
})
