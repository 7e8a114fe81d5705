import { defineTool, elicit } from 'trivet'

export default defineTool({
  name: 'ask_size',
  description: 'Asks for a size.',
  relayQuestions: true,
  async run (_args, ctx) {
    const { size } = await ctx.ask({
      size: elicit.form({
        message: 'Which size do you want?',
        schema: { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] }
      })
    })
    return `asked ${JSON.stringify(size)}`
  }
})
