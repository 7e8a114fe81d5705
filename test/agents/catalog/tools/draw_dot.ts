import { defineTool } from 'trivet'

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const content = [
  { type: 'text', text: 'a red dot' }, { type: 'image', data: DOT, mimeType: 'image/png' }
] as const

export default defineTool({
  name: 'draw_dot', description: 'Draws a dot.', run: () => ({ content: [...content] })
})

export const withStructure = defineTool({
  name: 'measure_dot',
  description: 'Draws a dot, and measures it.',
  outputSchema: { type: 'object', properties: { width: { type: 'integer' } }, required: ['width'] },
  run: () => ({ content: [...content], structuredContent: { width: 1 } })
})
