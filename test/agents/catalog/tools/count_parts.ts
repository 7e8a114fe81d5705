import { defineTool } from 'trivet'

export default defineTool({
  name: 'count_parts',
  description: 'Counts parts.',
  annotations: { readOnlyHint: true },
  inputSchema: {
    type: 'object',
    properties: {
      rows: { type: 'array', items: { type: 'integer' } },
      limit: { type: 'integer' },
      exact: { type: 'boolean' },
      note: { type: 'string' }
    },
    required: ['rows', 'limit', 'exact']
  },
  run: ({ rows, limit, exact }) => `counted ${JSON.stringify([rows, limit, exact])}`
})
