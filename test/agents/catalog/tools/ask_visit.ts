import { defineTool, elicit } from 'trivet'

export default defineTool({
  name: 'ask_visit',
  description: 'Asks to visit a page.',
  relayQuestions: true,
  async run (_args, ctx) {
    const { visit } = await ctx.ask({
      visit: elicit.url({ message: 'Visit this page.', url: 'https://example.com/visit' })
    })
    return `visited ${JSON.stringify(visit)}`
  }
})
