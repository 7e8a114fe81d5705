import { defineTool } from 'trivet'

export default defineTool({
  name: 'test_missing_capability',
  description: 'Can only be called by a client that declares sampling.',
  requiredCapabilities: { sampling: {} },
  run: () => 'The client declares sampling.'
})
