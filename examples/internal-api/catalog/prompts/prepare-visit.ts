import { definePrompt } from 'trivet'
import { crm, readJson } from '../lib/crm.ts'

export default definePrompt({
  name: 'prepare_visit',
  title: 'Prepare a visit',
  description: 'Prepares a visit to a customer, with what the CRM says about that customer.',
  arguments: [{ name: 'id', description: 'The number of the customer, such as 7', required: true }],
  upstreams: [crm],
  async render ({ id }, ctx) {
    const answer = await ctx.fetch(crm, `customers/${encodeURIComponent(id)}`)
    const customer = await readJson<object>(answer, `customer ${id}`)
    return `This is a customer of ours:\n\n${JSON.stringify(customer)}\n\n` +
      'Write down five questions for a visit. Make up no facts about the customer.'
  }
})
