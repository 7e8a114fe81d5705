import { defineTool } from 'trivet'

export default defineTool({
  name: 'take_file',
  description: 'Takes a file of the user.',
  relayQuestions: true,
  async run (_args, ctx) {
    const file = await ctx.files.upload({ message: 'Choose a file.', maxBytes: 1000 })
    if (file.action !== 'accept') return `no file: ${file.action}`
    let text = ''
    for await (const bytes of file.stream()) text += bytes.toString()
    return `took ${file.name}: ${text}`
  }
})
