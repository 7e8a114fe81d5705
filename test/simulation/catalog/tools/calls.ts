// Ordinary calls: handles, and a call that may be repeated.

import { defineTool } from 'trivet'
import { ledgers } from '../handles/ledger.ts'
import { probe } from '../lib/probe.ts'

const text = { type: 'string' } as const
const byId = { type: 'object', properties: { id: text }, required: ['id'] } as const
const entryById = {
  type: 'object', properties: { id: text, entry: text }, required: ['id', 'entry']
} as const
const byKey = {
  type: 'object',
  properties: { key: text, caller: text, ms: { type: 'integer' }, fails: { type: 'boolean' } },
  required: ['key', 'caller', 'ms', 'fails']
} as const

export const open = defineTool({
  name: 'open',
  description: 'Opens.',
  async run (_, ctx) {
    const { id } = await ctx.handles(ledgers).create([])
    return { id }
  }
})
export const add = defineTool({
  name: 'add',
  description: 'Adds.',
  inputSchema: entryById,
  async run ({ id, entry }, ctx) {
    await ctx.handles(ledgers).update(id, (entries) => { entries.push(entry) })
    return { ok: true }
  }
})
export const show = defineTool({
  name: 'show',
  description: 'Shows.',
  inputSchema: byId,
  run: async ({ id }, ctx) => ({ entries: await ctx.handles(ledgers).read(id) })
})
export const drop = defineTool({
  name: 'drop',
  description: 'Deletes.',
  inputSchema: byId,
  async run ({ id }, ctx) {
    await ctx.handles(ledgers).delete(id)
    return { ok: true }
  }
})
const once = {
  description: 'Orders.',
  inputSchema: byKey,
  dedupe: true,
  annotations: { idempotentHint: true },
  async run ({ key, caller, ms, fails }: { key: string, caller: string, ms: number, fails: boolean }) {
    const value = probe().order(key, caller)
    await probe().pause(ms)
    // The first run only.
    const hasFailed = fails && value.endsWith('#1')
    probe().ordered(value, hasFailed)
    if (hasFailed) throw new Error('as the call says')
    return { value }
  }
} as const

export const order = defineTool({ ...once, name: 'order' })
/** Its handler goes on beyond its time limit. */
export const hasty = defineTool({ ...once, name: 'hasty', timeoutMs: 6000 })
