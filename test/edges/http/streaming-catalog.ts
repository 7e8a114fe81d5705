// The catalog of the streaming tests, and the requests of its tools.

import { GATES } from '../../helpers/gates.ts'
import type { RequestParts } from '../../helpers/request.ts'

export const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

export const FILES = {
  'lib/shared.ts': `
    export const state = { started: 0, aborted: [], flooded: 0 }${GATES}`,
  'tools/all.ts': `
    import { defineTool, ToolError } from 'trivet'
    import { setImmediate as turn } from 'node:timers/promises'
    import { state, gate } from '../lib/shared.ts'
    const text = { type: 'string' }
    const properties = { text, gate: text, count: { type: 'integer' } }
    const inputSchema = { type: 'object', properties }
    const define = (name, run) => defineTool({ name, description: 'A tool.', inputSchema, run })
    const untilAborted = (ctx) => new Promise((_, reject) => ctx.signal.addEventListener('abort', () => {
      state.aborted.push(ctx.signal.reason.name)
      reject(ctx.signal.reason)
    }))
    export default [
      define('silent', async ({ text }) => text),
      define('speaks', async ({ text }, ctx) => {
        ctx.progress(1, 2, 'half')
        await gate(text).promise
        ctx.progress(2, 2)
        return text
      }),
      define('steps', (_, ctx) => {
        for (const step of [1, 1, 0.5, 2, NaN, 2.5, -3, Infinity, 3]) ctx.progress(step)
        return 'ok'
      }),
      define('logs', (_, ctx) => {
        for (const level of ${JSON.stringify(LEVELS)}) ctx.log[level]('a ' + level, { n: 1 })
        return 'ok'
      }),
      define('logs_oddly', (_, ctx) => {
        const cycle = {}
        cycle.cycle = cycle
        ctx.log.error('plain')
        ctx.log.error('cycle', cycle)
        ctx.log.error('bigint', { n: 1n })
        return 'ok'
      }),
      define('late', (_, ctx) => {
        setImmediate(() => { ctx.progress(1); ctx.log.error('too late'); state.started++ })
        return 'ok'
      }),
      define('speaks_and_fails', async (_, ctx) => {
        ctx.progress(1)
        await turn()
        throw new Error('hunter2')
      }),
      define('speaks_and_refuses', async (_, ctx) => {
        ctx.progress(1)
        await turn()
        throw new ToolError('not today')
      }),
      define('hangs', async (_, ctx) => { state.started++; await untilAborted(ctx) }),
      define('speaks_and_hangs', async (_, ctx) => {
        ctx.progress(1)
        state.started++
        try { await untilAborted(ctx) } finally { ctx.progress(2); ctx.log.error('after the end') }
      }),
      define('open', ({ gate: name }) => { gate(name).open(); return 'ok' }),
      define('state', () => state),
      define('flood', async ({ count }, ctx) => {
        for (let i = 1; i <= count; i++) {
          ctx.progress(i, count, 'x'.repeat(1000))
          if (i % 500 === 0) await turn()
        }
        state.flooded++
        return 'flooded'
      })
    ]`
}

export function call (name: string, args: object = {}, meta: object = {}): RequestParts {
  return { method: 'tools/call', params: { name, arguments: args }, meta: { ...meta } }
}

export const token = (progressToken: string | number) => ({ progressToken })
