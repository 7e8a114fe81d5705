// A tool whose task calls its upstream again and again.

export const keeping = (keep: boolean) =>
  `auth: { type: 'exchange', audience: 'https://crm.example', scopes: ['crm:read'], keep: ${keep} }`

/** Calls, and calls again after each pause. The pauses end the run. */
export const later = (pauses: readonly number[], options = '') => `import { defineTool } from 'trivet'
  import { crm } from '../lib/crm.ts'
  export default defineTool({
    name: 'later', task: 'required', upstreams: [crm], ${options}
    async run (_, ctx) {
      const ask = async () => (await (await ctx.fetch(crm, 'who')).json()).subject ?? 'nobody'
      const seen = [await ctx.once('first', ask)]
      for (const [index, ms] of ${JSON.stringify(pauses)}.entries()) {
        await ctx.sleep(ms)
        seen.push(await ctx.once('call ' + index, ask))
      }
      return seen.join(' ')
    }
  })`

export const textOf = (
  { result }: { readonly result: { readonly content: ReadonlyArray<{ text: string }> } }
) => {
  return result.content[0]?.text
}
