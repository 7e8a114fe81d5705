import { defineTool, ToolError } from 'trivet'
import { MAX_ROWS, searchCustomers } from '../lib/customers.ts'
import { database } from '../lib/database.ts'

export default defineTool({
  name: 'search_customers',
  title: 'Search customers',
  description: 'Finds customers by a part of their name. Returns their ids, names, cities and versions.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 100, description: 'A part of the name' },
      city: { type: 'string', maxLength: 100, description: 'Only customers in this city' },
      limit: { type: 'integer', minimum: 1, maximum: MAX_ROWS, default: 10, description: 'How many at most' }
    },
    required: ['name'],
    additionalProperties: false
  },
  annotations: { readOnlyHint: true },
  async run ({ name, city, limit }, ctx) {
    const result = await ctx.span('search', async () => {
      return await searchCustomers(ctx.use(database), { name, city, limit })
    })
    if (result.customers.length > 0) return result
    throw new ToolError(`No customer has ${name} in the name. Try a shorter part, or leave the city out.`)
  }
})
