import { defineTool } from 'trivet'

const branch = (kind: string, size: string) => ({
  type: 'object',
  properties: { kind: { const: kind }, [size]: { type: 'number' } },
  required: ['kind', size]
})

export default defineTool({
  name: 'choose_shape',
  description: 'Chooses a shape.',
  inputSchema: { type: 'object', oneOf: [branch('circle', 'radius'), branch('square', 'side')] },
  run: (args) => `chosen ${JSON.stringify(args)}`
})
