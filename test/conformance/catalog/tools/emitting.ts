// Tools that send notifications before their result.

import { setTimeout as pause } from 'node:timers/promises'
import { defineTool, elicit } from 'trivet'

export const withLogging = defineTool({
  name: 'test_tool_with_logging',
  description: 'Logs three messages, then returns a text block.',
  async run (args, ctx) {
    ctx.log.info('Tool execution started')
    await pause(50, undefined, { signal: ctx.signal })
    ctx.log.info('Tool processing data')
    await pause(50, undefined, { signal: ctx.signal })
    ctx.log.info('Tool execution completed')
    return 'Logged three messages.'
  }
})

export const withProgress = defineTool({
  name: 'test_tool_with_progress',
  description: 'Reports progress three times, then returns a text block.',
  async run (args, ctx) {
    ctx.progress(0, 100)
    await pause(50, undefined, { signal: ctx.signal })
    ctx.progress(50, 100)
    await pause(50, undefined, { signal: ctx.signal })
    ctx.progress(100, 100)
    return 'Reported progress three times.'
  }
})

export const logging = defineTool({
  name: 'test_logging_tool',
  description: 'Logs one message, then returns a text block.',
  run (args, ctx) {
    ctx.log.info('One message')
    return 'Logged one message.'
  }
})

export const streamingElicitation = defineTool({
  name: 'test_streaming_elicitation',
  description: 'Reports progress on a stream, then asks.',
  async run (_args, ctx) {
    ctx.progress(0, 1)
    const { confirm } = await ctx.ask({
      confirm: elicit.form({
        message: 'Please confirm',
        schema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
      })
    })
    return `The answer was ${confirm.action}.`
  }
})
