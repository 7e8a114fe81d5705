// A prompt and a resource that ask their client something, as files of a catalog.

export const ASKERS = {
  'prompts/ask.ts': `
    import { definePrompt, elicit } from 'trivet'
    export default definePrompt({ name: 'ask', description: 'Asks.', render: async (_, ctx) => {
      const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
      const { who } = await ctx.ask({ who: elicit.form({ message: 'Who?', schema }) })
      return 'Hello ' + (who.content?.name ?? 'nobody')
    } })`,
  'resources/ask.resource.ts': `
    import { defineResource, roots } from 'trivet'
    export default defineResource({ uri: 'test:roots', name: 'roots', read: async (ctx) => {
      const { all } = await ctx.ask({ all: roots() })
      return all.roots.map(({ uri }) => uri).join()
    } })`
}
