import { defineTool } from 'trivet'

// The result has the form of the official SDK.
export default defineTool({
  name: 'read_shelf',
  description: 'Reads how many are on the shelf.',
  outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
  run: () => ({ content: [{ type: 'text', text: 'there are four' }], structuredContent: { count: 4 } })
})
