import { defineTool } from 'trivet'
import { crm, readJson } from '../lib/crm.ts'

interface Customer {
  readonly id: string
  readonly name: string
  readonly city: string
}

export default defineTool({
  name: 'get_customer',
  title: 'Look up a customer',
  description: 'Returns the name and the city of a customer, if the user may see that customer.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string', description: 'The number of the customer, such as 7' } },
    required: ['id'],
    additionalProperties: false
  },
  outputSchema: {
    type: 'object',
    properties: { id: { type: 'string' }, name: { type: 'string' }, city: { type: 'string' } },
    required: ['id', 'name', 'city']
  },
  annotations: { readOnlyHint: true },
  upstreams: [crm],
  async run ({ id }, ctx) {
    const answer = await ctx.fetch(crm, `customers/${encodeURIComponent(id)}`, { accept: 'application/json' })
    const { name, city } = await readJson<Customer>(answer, `customer ${id}`)
    return { id, name, city }
  }
})
