// Tools whose calls become tasks, and one whose calls never do.

import { defineTool, elicit, ToolError } from 'trivet'

const name = elicit.form({
  message: 'What is your name?',
  schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
})
const confirmation = elicit.form({
  message: 'Are you sure?',
  schema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] }
})

export const greet = defineTool({
  name: 'greet',
  description: 'Greets somebody at once.',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  run: ({ name }) => `Hello, ${name}!`
})

export const slowCompute = defineTool({
  name: 'slow_compute',
  description: 'Takes as many seconds as it is told.',
  task: 'allowed',
  inputSchema: {
    type: 'object',
    properties: { seconds: { type: 'number' }, label: { type: 'string' } },
    required: ['seconds']
  },
  async run ({ seconds, label = 'the computation' }, ctx) {
    await ctx.sleep(seconds * 1000)
    return `Done: ${label}`
  }
})

export const failingJob = defineTool({
  name: 'failing_job',
  description: 'Fails with a tool error.',
  task: 'required',
  async run (_, ctx) {
    await ctx.sleep(1000)
    throw new ToolError('The job failed.')
  }
})

export const protocolErrorJob = defineTool({
  name: 'protocol_error_job',
  description: 'Fails with an internal error.',
  task: 'required',
  run () { throw new Error('A fault of the job.') }
})

export const confirmDelete = defineTool({
  name: 'confirm_delete',
  description: 'Looks for a file, and asks before it is deleted.',
  task: 'allowed',
  inputSchema: { type: 'object', properties: { filename: { type: 'string' } }, required: ['filename'] },
  async run ({ filename }, ctx) {
    await ctx.sleep(1000)
    const { confirmed } = await ctx.ask({ confirmed: confirmation })
    return confirmed.action === 'accept' ? `Deleted: ${filename}` : `Kept: ${filename}`
  }
})

export const multiInput = defineTool({
  name: 'multi_input',
  description: 'Asks two questions at once.',
  task: 'allowed',
  async run (_, ctx) {
    await ctx.sleep(1000)
    const { user } = await ctx.ask({ user: name, confirmed: confirmation })
    return user.action === 'accept' ? `Thank you, ${user.content.name}.` : 'Never mind.'
  }
})

export const toolWithTask = defineTool({
  name: 'test_tool_with_task',
  description: 'Asks for a name, and then takes its time.',
  task: 'required',
  async run (_, ctx) {
    const { user_name: user } = await ctx.ask({ user_name: name })
    await ctx.sleep(1000)
    return user.action === 'accept' ? `Hello, ${user.content.name}!` : 'Hello!'
  }
})
