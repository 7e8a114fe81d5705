// The catalog of the tests of calls in a session.

import { GATES } from '../../../helpers/gates.ts'

export const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

export const FILES = {
  'lib/shared.ts': `
    export const state = { started: 0, finished: 0, aborted: [] }${GATES}`,
  'tools/all.ts': `
    import { defineTool } from 'trivet'
    import { state, gate } from '../lib/shared.ts'
    const inputSchema = { type: 'object', properties: { gate: { type: 'string' } } }
    const define = (name, run) => defineTool({ name, description: 'A tool.', inputSchema, run })
    export default [
      define('quick', () => 'ok'),
      define('later', async ({ gate: name }) => {
        state.started++
        await gate(name).promise
        state.finished++
        return 'done'
      }),
      define('speaks', async ({ gate: name }, ctx) => {
        state.started++
        ctx.progress(1, 2, 'half')
        await gate(name).promise
        ctx.progress(2, 2)
        state.finished++
        return 'done'
      }),
      define('speaks_late', async ({ gate: name }, ctx) => {
        state.started++
        await gate(name).promise
        ctx.progress(1)
        state.finished++
        return 'done'
      }),
      define('steps', (_, ctx) => {
        for (const step of [1, 1, 0.5, 2, 3]) ctx.progress(step, 3, 'step ' + step)
        return 'ok'
      }),
      define('logs', (_, ctx) => {
        for (const level of ${JSON.stringify(LEVELS)}) ctx.log[level]('a ' + level, { n: 1 })
        return 'ok'
      }),
      define('mixes', async (_, ctx) => {
        ctx.log.error('first')
        ctx.progress(1)
        ctx.log.debug('never')
        ctx.progress(2)
        ctx.log.error('last')
        return 'ok'
      }),
      define('hangs', async (_, ctx) => {
        state.started++
        await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => {
          state.aborted.push(ctx.signal.reason.name)
          reject(ctx.signal.reason)
        }))
      }),
      define('speaks_and_hangs', async (_, ctx) => {
        ctx.progress(1)
        state.started++
        try {
          await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => {
            state.aborted.push(ctx.signal.reason.name)
            reject(ctx.signal.reason)
          }))
        } finally { ctx.progress(2); ctx.log.error('after the end') }
      }),
      define('open', ({ gate: name }) => { gate(name).open(); return 'ok' }),
      define('breaks', () => { throw new Error('hunter2') }),
      define('state', () => JSON.stringify(state))
    ]`
}
