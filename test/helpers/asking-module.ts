// A module of tools, of which `ask` and `relays` ask for a size.

/**
 * @param tools the text of more tools: `define(name, run, options)` makes one, `pause(ms)` waits.
 * @param answer the text of an expression of the answer `size`, for what the two tools return.
 */
export function askingModule (tools: string, answer = 'size.action'): string {
  return `
    import { setTimeout as pause } from 'node:timers/promises'
    import { defineTool, elicit } from 'trivet'
    const define = (name, run, options = {}) => defineTool({ name, description: 'A tool.', ...options, run })
    const properties = { size: { type: 'string', enum: ['S', 'L'] } }
    const schema = { type: 'object', properties, required: ['size'] }
    const ask = async (_, ctx) => {
      const { size } = await ctx.ask({ size: elicit.form({ message: 'Which size?', schema }) })
      return ${answer}
    }
    export default [define('ask', ask), define('relays', ask, { relayQuestions: true }), ${tools}]`
}
