import { defineTool } from 'trivet'
import { addCustomer } from '../lib/customers.ts'
import { database } from '../lib/database.ts'

export default defineTool({
  name: 'add_customer',
  title: 'Add a customer',
  description: 'Adds a customer. Returns the new entry, with its id.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 100, description: 'The whole name' },
      city: { type: 'string', maxLength: 100, default: '', description: 'Where the customer lives' }
    },
    required: ['name'],
    additionalProperties: false
  },
  annotations: { destructiveHint: false },
  async run ({ name, city }, ctx) {
    const customer = await addCustomer(ctx.use(database), { name, city })
    ctx.notify.listChanged('resources')
    return { customer }
  }
})
