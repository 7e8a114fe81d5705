import { defineTool } from 'trivet'
import { roll } from '../lib/dice.ts'

export default defineTool({
  name: 'roll_dice',
  description: 'Rolls six-sided dice and returns what each one shows.',
  inputSchema: {
    type: 'object',
    properties: { count: { type: 'integer', minimum: 1, maximum: 20 } },
    required: ['count']
  },
  run: ({ count }) => ({ dice: roll(count) })
})
