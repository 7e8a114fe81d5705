import { defineTool } from 'trivet'

export default defineTool({
  name: 'read_stock',
  description: 'Reads how many are in stock.',
  inputSchema: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] },
  outputSchema: {
    type: 'object', properties: { sku: { type: 'string' }, count: { type: 'integer' } }, required: ['count']
  },
  run: ({ sku }) => ({ sku, count: 3 })
})
