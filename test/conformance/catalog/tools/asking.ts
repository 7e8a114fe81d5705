// Tools that ask their client while they run, and one that closes the connection while it runs.

import { setTimeout as pause } from 'node:timers/promises'
import { defineTool, elicit, sample } from 'trivet'

export const sampling = defineTool({
  name: 'test_sampling',
  description: 'Has the client\'s model answer a prompt.',
  inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  async run ({ prompt }, ctx) {
    const { answer } = await ctx.ask({
      answer: sample({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100
      })
    })
    const blocks = [answer.content].flat()
    const texts = blocks.map((block) => block.type === 'text' ? block.text : `[${block.type}]`)
    return `LLM response: ${texts.join(' ')}`
  }
})

export const elicitation = defineTool({
  name: 'test_elicitation',
  description: 'Asks the user for a name and an address.',
  inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  async run ({ message }, ctx) {
    const { user } = await ctx.ask({
      user: elicit.form({
        message,
        schema: {
          type: 'object',
          properties: { username: { type: 'string' }, email: { type: 'string' } },
          required: ['username', 'email']
        }
      })
    })
    return `User response: ${describe(user)}`
  }
})

export const defaults = defineTool({
  name: 'test_elicitation_sep1034_defaults',
  description: 'Asks with a default for each kind of field.',
  async run (_args, ctx) {
    const { user } = await ctx.ask({
      user: elicit.form({
        message: 'Please confirm or change these values',
        schema: {
          type: 'object',
          properties: {
            name: { type: 'string', default: 'John Doe' },
            age: { type: 'integer', default: 30 },
            score: { type: 'number', default: 95.5 },
            status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
            verified: { type: 'boolean', default: true }
          }
        }
      })
    })
    return `Elicitation completed: ${describe(user)}`
  }
})

export const enums = defineTool({
  name: 'test_elicitation_sep1330_enums',
  description: 'Asks with each form of a choice.',
  async run (_args, ctx) {
    const { user } = await ctx.ask({
      user: elicit.form({
        message: 'Please choose',
        schema: {
          type: 'object',
          properties: {
            untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
            titledSingle: {
              type: 'string',
              oneOf: [
                { const: 'value1', title: 'First Option' }, { const: 'value2', title: 'Second Option' },
                { const: 'value3', title: 'Third Option' }
              ]
            },
            legacyEnum: {
              type: 'string',
              enum: ['opt1', 'opt2', 'opt3'],
              enumNames: ['Option One', 'Option Two', 'Option Three']
            },
            untitledMulti: {
              type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] }
            },
            titledMulti: {
              type: 'array',
              items: {
                anyOf: [
                  { const: 'value1', title: 'First Choice' }, { const: 'value2', title: 'Second Choice' },
                  { const: 'value3', title: 'Third Choice' }
                ]
              }
            }
          }
        }
      })
    })
    return `Elicitation completed: ${describe(user)}`
  }
})

export const reconnection = defineTool({
  name: 'test_reconnection',
  description: 'Lets go of the connection, and finishes a moment later.',
  async run (_args, ctx) {
    ctx.disconnectLegacyClient(500)
    await pause(100)
    return 'Reconnection test completed successfully'
  }
})

function describe ({ action, ...rest }: { readonly action: string, readonly content?: unknown }): string {
  return `action=${action}, content=${JSON.stringify(rest.content ?? {})}`
}
