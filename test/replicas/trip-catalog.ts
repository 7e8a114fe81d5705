// A catalog whose handlers ask the client. Tools note under a handle what they do, and in which process.

export const TRIP_FILES = {
  'lib/diaries.ts': `
import { defineHandle } from 'trivet'
export const diaries = defineHandle({
  kind: 'diary', prefix: 'dry', idleTtlMs: 600_000,
  schema: {
    type: 'object',
    properties: { entries: { type: 'array', items: { type: 'string' } } },
    required: ['entries']
  }
})
`,
  'lib/name-form.ts': `
import { elicit } from 'trivet'
export const nameForm = (message: string) => elicit.form({
  message,
  schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
})
`,
  'tools/open-diary.ts': `
import { defineTool } from 'trivet'
import { diaries } from '../lib/diaries.ts'
export default defineTool({
  name: 'open_diary', description: 'Makes one.',
  run: async (_args, ctx) => (await ctx.handles(diaries).create({ entries: [] })).id
})
`,
  'tools/read-diary.ts': `
import { defineTool } from 'trivet'
import { diaries } from '../lib/diaries.ts'
export default defineTool({
  name: 'read_diary', description: 'Reads it.',
  inputSchema: { type: 'object', properties: { diary: { type: 'string' } }, required: ['diary'] },
  run: async ({ diary }, ctx) => await ctx.handles(diaries).read(diary)
})
`,
  'tools/plan-trip.ts': `
import { randomUUID } from 'node:crypto'
import { defineTool, elicit, roots, sample } from 'trivet'
import { diaries } from '../lib/diaries.ts'
import { nameForm } from '../lib/name-form.ts'
export default defineTool({
  name: 'plan_trip', description: 'Asks a lot.',
  inputSchema: { type: 'object', properties: { diary: { type: 'string' } }, required: ['diary'] },
  async run ({ diary }, ctx) {
    const note = async (what: string) => await ctx.handles(diaries).update(diary, ({ entries }) => {
      entries.push(what + ' ' + process.pid)
    })
    await note('run')
    await ctx.once('begun', async () => { await note('begun') })
    const { city } = await ctx.ask({ city: nameForm('Where to?') })
    if (city.action !== 'accept') return { city: city.action }
    const number = await ctx.once('booking', async () => {
      await note('booked ' + city.content.name)
      return randomUUID()
    })
    const text = 'What to pack for ' + city.content.name + '?'
    const { terms, advice, folders } = await ctx.ask({
      terms: elicit.url({ message: 'Read this first', url: 'https://example.com/terms' }),
      advice: sample({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 10 }),
      folders: roots()
    })
    const { seat } = await ctx.ask({ seat: nameForm('Which seat for booking ' + number + '?') })
    return { number, city, terms, advice: advice.content, folders: folders.roots, seat }
  }
})
`,
  'prompts/greeting.ts': `
import { definePrompt } from 'trivet'
import { nameForm } from '../lib/name-form.ts'
export default definePrompt({
  name: 'greeting', description: 'Asks for a name.',
  async render (_args, ctx) {
    const { who } = await ctx.ask({ who: nameForm('Who are you?') })
    return who.action === 'accept' ? 'Greet ' + who.content.name : 'Greet nobody: ' + who.action
  }
})
`,
  'resources/sign.resource.ts': `
import { defineResource } from 'trivet'
import { nameForm } from '../lib/name-form.ts'
export default defineResource({
  uri: 'door://sign', name: 'sign',
  async read (ctx) {
    const { who } = await ctx.ask({ who: nameForm('Whose door is it?') })
    return who.action === 'accept' ? who.content.name + ' lives here' : 'Nobody lives here'
  }
})
`,
  // Its cache scope is public unless it asks the client.
  'resources/weather.resource.ts': `
import { defineResourceTemplate } from 'trivet'
import { nameForm } from '../lib/name-form.ts'
export default defineResourceTemplate({
  uriTemplate: 'weather://{place}', name: 'weather', cache: { ttlMs: 60_000, cacheScope: 'public' },
  async read ({ place }, ctx) {
    if (place !== 'here') return 'rain in ' + place
    const { where } = await ctx.ask({ where: nameForm('Where are you?') })
    return where.action === 'accept' ? 'rain in ' + where.content.name : 'rain'
  }
})
`
}
