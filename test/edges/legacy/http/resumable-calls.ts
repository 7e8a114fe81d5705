// Calls that a client can resume, for the tests of one service and of two.

import { GATES } from '../../../helpers/gates.ts'
import type { SessionClient, SessionReply } from '../../../helpers/session.ts'

export const FILES = {
  'lib/gates.ts': GATES,
  'tools/all.ts': `
    import { defineTool, elicit } from 'trivet'
    import { gate } from '../lib/gates.ts'
    const properties = { gate: { type: 'string' }, count: { type: 'integer' } }
    const inputSchema = { type: 'object', properties }
    const define = (name, run) => defineTool({ name, description: 'A tool.', inputSchema, run })
    const size = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] }
    export default [
      define('speaks', async ({ gate: name }, ctx) => {
        ctx.progress(1)
        await gate(name).promise
        ctx.progress(2)
        return 'done'
      }),
      define('silent', async ({ gate: name }) => { await gate(name).promise; return 'done' }),
      define('lets_go', async ({ gate: name }, ctx) => {
        ctx.disconnectLegacyClient(50)
        await gate(name).promise
        ctx.progress(1)
        return 'done'
      }),
      define('lets_go_and_asks', async (_, ctx) => {
        ctx.disconnectLegacyClient(50)
        const { a } = await ctx.ask({ a: elicit.form({ message: 'Which?', schema: size }) })
        return a.action
      }),
      define('asks', async (_, ctx) => {
        const { a } = await ctx.ask({ a: elicit.form({ message: 'Which?', schema: size }) })
        return a.action
      }),
      define('floods', async ({ count, gate: name }, ctx) => {
        for (let i = 1; i <= count; i++) ctx.progress(i, count, 'x'.repeat(100))
        await gate(name).promise
        return 'done'
      }),
      define('open', ({ gate: name }) => { gate(name).open(); return 'ok' })
    ]`
}

export const asked = { meta: { progressToken: 'p' } }
export const from = async (session: SessionClient, id: string) => await session.get({ 'last-event-id': id })
/** The progress, the result or the error code of each message. */
export const summaryOf = ({ messages }: SessionReply) => messages.map(
  ({ params, result, error }) => params?.progress ?? result?.content[0].text ?? error?.code
)
let gates = 0
export const newGate = () => `gate ${++gates}`
