import { defineTool } from 'trivet'

// Each word has six characters, and says where it is.
const words = Array.from({ length: 500 }, (_, index) => `d${String(index).padStart(4, '0')}`)

export default defineTool({
  name: 'tell_story', description: `${words.join(' ')}.`, run: () => 'told a story'
})
