import { defineTool, roots, sample } from 'trivet'

export const model = defineTool({
  name: 'ask_model',
  description: 'Asks the model of the client.',
  async run (_args, ctx) {
    const message = { role: 'user', content: { type: 'text', text: 'Say yes.' } } as const
    const { answer } = await ctx.ask({ answer: sample({ messages: [message], maxTokens: 10 }) })
    return `asked ${JSON.stringify(answer)}`
  }
})

export const folders = defineTool({
  name: 'ask_folders',
  description: 'Asks the client for its folders.',
  async run (_args, ctx) {
    const { answer } = await ctx.ask({ answer: roots() })
    return `asked ${JSON.stringify(answer)}`
  }
})
