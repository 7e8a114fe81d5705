import { defineTool, ToolError } from 'trivet'

const RATES = { EUR: 1, USD: 1.1, JPY: 160 }
const currency = { type: 'string', pattern: '^[A-Z]{3}$' }

export default defineTool({
  name: 'convert',
  description: 'Converts an amount between two currencies.',
  inputSchema: {
    type: 'object',
    properties: { amount: { type: 'number', minimum: 0 }, from: currency, to: currency },
    required: ['amount', 'from', 'to']
  },
  outputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  run ({ amount, from, to }) {
    if (!(from in RATES && to in RATES)) throw new ToolError(`No rate from ${from} to ${to}.`)
    return { amount: amount / RATES[from] * RATES[to] }
  }
})
