import { defineResourceTemplate } from 'trivet'
import { findCustomer, listCustomers } from '../lib/customers.ts'
import { database } from '../lib/database.ts'

export default defineResourceTemplate({
  uriTemplate: 'customer://{id}',
  name: 'customer',
  description: 'One customer. The list has the newest thousand.',
  mimeType: 'application/json',
  // Each replica keeps the list, and makes it again after a change, and this often for the changes of others.
  listTtlMs: 60_000,
  async list (ctx) {
    const customers = await listCustomers(ctx.use(database))
    return customers.map(({ id, name }) => ({ variables: { id }, name }))
  },
  async read ({ id }, ctx) {
    const customer = await findCustomer(ctx.use(database), id)
    return customer && JSON.stringify(customer)
  }
})
