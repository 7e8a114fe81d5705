import { defineTool } from 'trivet'

export default defineTool({
  name: 'make_link',
  description: 'Makes a link to a report.',
  run: () => ({
    content: [{ type: 'resource_link', uri: 'https://example.com/report-7.pdf', name: 'report' }]
  })
})
