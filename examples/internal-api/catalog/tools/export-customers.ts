import { defineTool } from 'trivet'
import { crm, readJson } from '../lib/crm.ts'

interface Export {
  readonly id: string
  /** Absent while the CRM works on it. */
  readonly link?: string
  /** When to ask again. */
  readonly seconds?: number
}

export default defineTool({
  name: 'export_customers',
  title: 'Export customers',
  description: 'Has the CRM write a file of all customers of a city that the user may see. It takes minutes.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Such as London' } },
    required: ['city'],
    additionalProperties: false
  },
  upstreams: [crm],
  task: 'allowed',
  onReplicaLoss: 'rerun',
  async run ({ city }, ctx) {
    const key = await ctx.once('key', () => crypto.randomUUID())
    const { id } = await ctx.step('begin', { retries: 3 }, async () => {
      // A step that was interrupted is called again: the CRM begins one export for each key.
      const headers = { 'idempotency-key': key }
      const answer = await ctx.fetch(crm, 'exports', { method: 'POST', json: { city }, headers })
      return await readJson<Export>(answer, `customers in ${city}`)
    })
    for (let round = 1; ; round++) {
      const { link, seconds = 30 } = await ctx.step(`look ${round}`, { retries: 3 }, async () => {
        return await readJson<Export>(await ctx.fetch(crm, `exports/${id}`), `export ${id}`)
      })
      if (link !== undefined) return `The customers in ${city} are at ${link}.`
      ctx.progress(round, undefined, 'The CRM writes the file')
      await ctx.sleep(seconds * 1000)
    }
  }
})
