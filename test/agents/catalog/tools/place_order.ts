import { defineTool } from 'trivet'

export default defineTool({
  name: 'place_order',
  description: 'Places an order.',
  inputSchema: {
    type: 'object',
    properties: { item: { $ref: '#/$defs/item' } },
    required: ['item'],
    $defs: {
      item: {
        type: 'object', properties: { sku: { type: 'string' }, count: { type: 'integer' } }, required: ['sku']
      }
    }
  },
  run: (args) => `ordered ${JSON.stringify(args)}`
})
