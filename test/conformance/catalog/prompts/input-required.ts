import { definePrompt, elicit } from 'trivet'

export default definePrompt({
  name: 'test_input_required_result_prompt',
  description: 'Asks which context to use.',
  async render (_args, ctx) {
    const { user_context: answer } = await ctx.ask({
      user_context: elicit.form({
        message: 'What context should the prompt use?',
        schema: { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] }
      })
    })
    return answer.action === 'accept' ? `The context is ${answer.content.context}.` : 'There is no context.'
  }
})
