import { defineTool, elicit, roots, sample, type Context } from 'trivet'

/** A form with one required property. */
const formOf = (message: string, name: string, type: 'string' | 'boolean') =>
  elicit.form({ message, schema: { type: 'object', properties: { [name]: { type } }, required: [name] } })

const question = (text: string, maxTokens: number) => sample({
  messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens
})

/** The results before the first question are in the request state. */
const begin = async (ctx: Context) => await ctx.once('began', () => new Date().toISOString())

export const elicitation = defineTool({
  name: 'test_input_required_result_elicitation',
  description: 'Asks for a name and greets.',
  async run (_args, ctx) {
    const { user_name: answer } = await ctx.ask({
      user_name: elicit.form({
        message: 'What is your name?',
        schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
      })
    })
    return answer.action === 'accept' ? `Hello, ${answer.content.name}!` : 'Hello, whoever you are!'
  }
})

export const sampling = defineTool({
  name: 'test_input_required_result_sampling',
  description: 'Has the client\'s model answer.',
  async run (_args, ctx) {
    const { capital_question: { content } } = await ctx.ask({
      capital_question: question('What is the capital of France?', 100)
    })
    return `The model said: ${JSON.stringify(content)}`
  }
})

export const listRoots = defineTool({
  name: 'test_input_required_result_list_roots',
  description: 'Asks for the client\'s roots.',
  async run (_args, ctx) {
    const { client_roots: answer } = await ctx.ask({ client_roots: roots() })
    return `Roots: ${answer.roots.map(({ uri }) => uri).join(', ')}`
  }
})

export const requestState = defineTool({
  name: 'test_input_required_result_request_state',
  description: 'Asks for a confirmation and carries a request state.',
  async run (_args, ctx) {
    await begin(ctx)
    await ctx.ask({ confirm: formOf('Please confirm', 'ok', 'boolean') })
    return 'state-ok'
  }
})

export const tamperedState = defineTool({
  name: 'test_input_required_result_tampered_state',
  description: 'Carries a request state that must not be changed.',
  async run (_args, ctx) {
    await begin(ctx)
    await ctx.ask({ confirm: formOf('Please confirm', 'ok', 'boolean') })
    return 'Confirmed.'
  }
})

export const multipleInputs = defineTool({
  name: 'test_input_required_result_multiple_inputs',
  description: 'Asks three things at once.',
  async run (_args, ctx) {
    await begin(ctx)
    const answers = await ctx.ask({
      user_name: formOf('What is your name?', 'name', 'string'),
      greeting: question('Generate a greeting', 50),
      client_roots: roots()
    })
    return JSON.stringify(answers)
  }
})

export const multiRound = defineTool({
  name: 'test_input_required_result_multi_round',
  description: 'Asks one thing after the other.',
  async run (_args, ctx) {
    await begin(ctx)
    const { step1 } = await ctx.ask({ step1: formOf('Step 1: What is your name?', 'name', 'string') })
    const { step2 } = await ctx.ask({
      step2: formOf('Step 2: What is your favorite color?', 'color', 'string')
    })
    return JSON.stringify({ step1, step2 })
  }
})

export const capabilities = defineTool({
  name: 'test_input_required_result_capabilities',
  description: 'Asks only what the client can answer.',
  async run (_args, ctx) {
    const { elicitation, sampling } = ctx.client.capabilities
    const answers = await ctx.ask({
      ...(elicitation === undefined ? {} : { user_name: formOf('What is your name?', 'name', 'string') }),
      ...(sampling === undefined ? {} : { greeting: question('Generate a greeting', 50) })
    })
    return JSON.stringify(answers)
  }
})
