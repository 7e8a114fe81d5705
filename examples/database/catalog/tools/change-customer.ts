import { defineTool, ToolError } from 'trivet'
import { changeCustomer, findCustomer } from '../lib/customers.ts'
import { database } from '../lib/database.ts'

export default defineTool({
  name: 'change_customer',
  title: 'Change a customer',
  description: 'Changes the name or the city of a customer, if it is still as it was read.',
  inputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string', pattern: '^[1-9][0-9]{0,17}$', description: 'The id, such as 7' },
      version: { type: 'integer', minimum: 1, maximum: 2147483647, description: 'The version that was read' },
      name: { type: 'string', minLength: 1, maxLength: 100, description: 'The new name, if it changes' },
      city: { type: 'string', maxLength: 100, description: 'The new city, if it changes' }
    },
    required: ['id', 'version'],
    additionalProperties: false
  },
  // The same call again is refused, and changes nothing.
  annotations: { idempotentHint: true },
  async run ({ id, version, name, city }, ctx) {
    if (name === undefined && city === undefined) throw new ToolError('Give the new name or the new city.')
    const open = ctx.use(database)
    const customer = await changeCustomer(open, { id, version, name, city })
    if (customer === undefined) {
      const current = await findCustomer(open, id)
      if (current === undefined) throw new ToolError(`There is no customer ${id}.`)
      throw new ToolError(`It has changed since: ${JSON.stringify(current)}. Does the change still fit?`)
    }
    ctx.notify.resourceUpdated(`customer://${id}`)
    if (name !== undefined) ctx.notify.listChanged('resources')
    return { customer }
  }
})
