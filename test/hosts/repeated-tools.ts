// Tools that note how often their handlers and steps have run.

export const notes: Record<string, unknown[]> = {}
Object.assign(globalThis, { repeatedNotes: notes })

const ARGUMENTS = "task: 'allowed', inputSchema: { type: 'object', properties: { ms: { type: 'number' } } }"
export const TOOLS = {
  orders: [ARGUMENTS, `async ({ ms = 0 }, ctx) => {
    const number = await ctx.step('order', async () => {
      const orders = globalThis.repeatedNotes.orders ??= []
      await new Promise((done) => setTimeout(done, ms))
      orders.push(1)
      return orders.length
    })
    return 'order ' + number }`],
  counts: [ARGUMENTS, `async ({ ms = 0 }, ctx) => {
    const runs = globalThis.repeatedNotes.runs ??= []
    runs.push(1)
    return await ctx.step('order', async () => {
      (globalThis.repeatedNotes.orders ??= []).push(1)
      await new Promise((done) => setTimeout(done, ms))
      return 'order ' + crypto.randomUUID()
    }) }`],
  refuses: [ARGUMENTS, `async (_, ctx) => { await ctx.step('order', () => {
    (globalThis.repeatedNotes.orders ??= []).push(1) }); throw new ToolError('No.') }`]
} as const
