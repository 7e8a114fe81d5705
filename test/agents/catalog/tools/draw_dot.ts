import { defineTool } from 'trivet'

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export default defineTool({
  name: 'draw_dot',
  description: 'Draws a dot.',
  run: () => ({
    content: [{ type: 'text', text: 'a red dot' }, { type: 'image', data: DOT, mimeType: 'image/png' }]
  })
})
