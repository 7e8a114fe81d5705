// An open upstream without a service: with its log, its outcomes, and callers of any kind.

import type { Test } from 'tap'
import type { Principal } from '../../../src/platform/access/principal.ts'
import { defineUpstream, type UpstreamOptions } from '../../../src/platform/author/define-upstream.ts'
import type { UpstreamInit } from '../../../src/platform/author/upstream-fetch.ts'
import { compileUpstream } from '../../../src/features/upstreams/definition/compile-upstream.ts'
import type { UpstreamCaller } from '../../../src/catalog/compiled/upstreams/open-upstream.ts'
import type { Credential } from '../../../src/features/upstreams/credentials/credential.ts'
import { openPool } from '../../../src/features/upstreams/pool.ts'
import { Upstream } from '../../../src/features/upstreams/upstream.ts'

export interface UpstreamLine {
  readonly level: 'debug' | 'warn'
  readonly fields: { readonly [name: string]: unknown }
}

interface OpenedUpstream {
  readonly upstream: Upstream
  readonly lines: UpstreamLine[]
  readonly outcomes: string[]
  fetch (caller: UpstreamCaller, path?: string, init?: UpstreamInit): Promise<Response>
}

export function callerOf (principal: Partial<Principal>, address?: string): UpstreamCaller {
  return {
    sender: { principal: { scopes: new Set<string>(), ...principal }, address },
    leftMs: Infinity,
    begin: () => () => {},
    note () {},
    span: () => undefined
  }
}

export const ADA = callerOf({ subject: 'ada' })
export const GRACE = callerOf({ subject: 'grace' })

export function openUpstream (
  t: Test, { url }: { readonly url: string },
  { credential = { headers: () => ({}) }, running = 50, ...options }:
    Partial<UpstreamOptions<Record<never, never>>> & {
      readonly credential?: Credential
      readonly running?: number
    } = {}
): OpenedUpstream {
  const crm = { name: 'crm', url, auth: { type: 'none' }, allowPrivate: true, retry: false } as const
  const settings = { values: new Map(), secrets: new Map(), incomplete: new Set<object>() }
  const fail = (place: string, rule: string) => { throw new Error(`${place}: ${rule}`) }
  const compiled = compileUpstream(defineUpstream({ ...crm, ...options }), settings, fail)
  if (compiled === undefined) throw new Error('not compiled')
  const lines: UpstreamLine[] = []
  const outcomes: string[] = []
  const note = (level: 'debug' | 'warn') => (fields: object) => {
    lines.push({ level, fields: { ...fields } })
  }
  const upstream = new Upstream(compiled, {
    transport: openPool(compiled, running),
    credential,
    log: { debug: note('debug'), warn: note('warn') },
    running,
    onCall: (_, outcome) => { outcomes.push(outcome) }
  })
  t.teardown(async () => await upstream.close())
  return {
    upstream,
    lines,
    outcomes,
    fetch: async (caller, path = 'x', init = {}) => await upstream.fetch(caller, path, init)
  }
}

/** What each call ends with: its status, or the code or the name of its error. */
export async function endOf (call: Promise<Response>): Promise<unknown> {
  try {
    const answer = await call
    await answer.arrayBuffer()
    return answer.status
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return Reflect.get(error, 'code') ?? error.name
  }
}
