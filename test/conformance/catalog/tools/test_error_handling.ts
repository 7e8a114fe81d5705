import { defineTool, ToolError } from 'trivet'

export default defineTool({
  name: 'test_error_handling',
  description: 'Fails, in the way that a model is told of.',
  run () {
    throw new ToolError('This tool intentionally returns an error for testing')
  }
})
