// The members of a line, which are joined by hand, are valid JSON with the order that operators know.

import t from 'tap'
import { toMembers } from '../../../src/features/audit/audit-observer.ts'
import { invalidRequest } from '../../../src/platform/protocol/errors.ts'
import type { Ending, Observed } from '../../../src/request/pipeline/observer.ts'

const ODD = 'a"b\\c\n\u2028é😀'
const FACTS = { event: 'call', outcome: 'ok', address: '::1' }
const OBSERVED: Observed = {
  requestId: ODD,
  method: undefined,
  subject: undefined,
  principal: undefined,
  revision: undefined,
  isBegun: true,
  isToolError: false
}
const ENDING: Ending = {
  durationMs: 1.234_567, status: undefined, protocolError: undefined, error: undefined, isCancelled: false
}
const rule = { names: new Set(['query', ODD]), hasValues: false, secretNames: new Set<string>() }

const read = (observed: Partial<Observed>, ending: Partial<Ending> = {}) =>
  JSON.parse(`{${toMembers(FACTS, { ...OBSERVED, ...observed }, { ...ENDING, ...ending })}}`)

t.test('has all members, in order, with any text', async (t) => {
  const principal = { subject: ODD, clientId: ODD, issuer: ODD, scopes: new Set<string>() }
  const observed = {
    method: 'tools/call',
    subject: ODD,
    principal,
    revision: ODD,
    traceId: 't',
    callArguments: { rule, args: { [ODD]: 1, other: 2 } }
  }
  const expected = {
    event: 'call',
    outcome: 'ok',
    method: 'tools/call',
    name: ODD,
    arguments: [ODD],
    unknownArguments: 1,
    subject: ODD,
    clientId: ODD,
    issuer: ODD,
    address: '::1',
    revision: ODD,
    status: 200,
    code: -32600,
    durationMs: 1.23,
    requestId: ODD,
    traceId: 't'
  }
  for (let line = 0; line < 2; line++) {
    const made = read(observed, { status: 200, protocolError: invalidRequest('x') })
    t.strictSame(made, expected)
    t.strictSame(Object.keys(made), Object.keys(expected))
  }
})

t.test('leaves out what is not known', async (t) => {
  t.strictSame(read({ callArguments: { rule, args: undefined } }), {
    event: 'call', outcome: 'ok', address: '::1', durationMs: 1.23, requestId: ODD
  })
})

t.test('has the values that a definition keeps, and why a request was refused', async (t) => {
  const kept = { ...rule, hasValues: true, secretNames: new Set(['query']) }
  t.strictSame(read({ callArguments: { rule: kept, args: { query: 1, other: [ODD] } } }).arguments, {
    query: '[redacted]', other: [ODD]
  })
  const refused = { address: undefined, path: ODD, host: undefined, origin: undefined, reason: ODD }
  t.strictSame(read({ refused }), {
    event: 'call', outcome: 'ok', path: ODD, reason: ODD, durationMs: 1.23, requestId: ODD
  })
})
