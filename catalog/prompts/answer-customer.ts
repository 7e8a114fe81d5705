import { readdirSync } from 'node:fs'
import { definePrompt, type PromptMessage } from 'trivet'

const folder = new URL('../resources/policies', import.meta.url)
const policies = readdirSync(folder).filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -3))

export default definePrompt({
  name: 'answer_customer',
  title: 'Answer a customer',
  description: 'Drafts a reply to a customer’s question that rests on the shop’s own policy',
  order: 1,
  arguments: [
    { name: 'question', description: 'What the customer wrote', required: true },
    {
      name: 'policy',
      description: `Which policy it is about: ${policies.join(', ')}. Without one, all of them`,
      complete: policies
    }
  ],
  async render ({ question, policy }, ctx) {
    const named = policies.filter((name) => name === policy)
    const chosen = named.length > 0 ? named : policies
    const embedded = await Promise.all(
      chosen.map((name) => ctx.embedResource(`file:///policies/${name}.md`))
    )
    return [...embedded.map((content): PromptMessage => ({ role: 'user', content })), {
      role: 'user',
      content: {
        type: 'text',
        text: `A customer of our bookshop asks:\n\n${question}\n\n` +
          'Draft a friendly reply of at most 120 words. ' +
          'Promise only what the policy above says; if it does not answer the question, ' +
          'say so and offer to have a colleague reply.'
      }
    }]
  }
})
