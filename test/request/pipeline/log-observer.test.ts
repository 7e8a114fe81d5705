// The line of a request.

import t from 'tap'
import { methodNotFound } from '../../../src/platform/protocol/errors.ts'
import { HandlerTimeout } from '../../../src/request/pipeline/lifetime.ts'
import { createLogObserver } from '../../../src/request/pipeline/log-observer.ts'
import type { Ending, Observed } from '../../../src/request/pipeline/observer.ts'

const OBSERVED: Observed = {
  requestId: 'a-1',
  method: 'tools/call',
  subject: 'search',
  principal: undefined,
  revision: undefined,
  isBegun: true,
  isToolError: false
}
const ENDING: Ending = {
  durationMs: 1.23456, status: 200, protocolError: undefined, error: undefined, isCancelled: false
}

function lineOf (observed: Observed, ending: Ending): unknown {
  let line: unknown
  createLogObserver({
    info (fields, message) {
      t.equal(message, 'request')
      line = JSON.parse(JSON.stringify(fields))
    },
    warn () {},
    error () {}
  }).end?.(observed, ending)
  return line
}

t.test('the line of a request has what is known of it', async (t) => {
  const facts = { reqId: 'a-1', method: 'tools/call', name: 'search', status: 200 }
  const expected = { ...facts, outcome: 'ok', durationMs: 1.23 }
  t.strictSame(lineOf(OBSERVED, ENDING), expected)
  const traced = { ...expected, traceId: '0af7651916cd43dd8448eb211c80319c' }
  t.strictSame(lineOf({ ...OBSERVED, traceId: traced.traceId }, ENDING), traced)
  const odd = 'file:///"\\\n\u2028é'
  t.match(lineOf({ ...OBSERVED, subject: odd, requestId: odd }, ENDING), { name: odd, reqId: odd })
  const unread = { ...OBSERVED, method: undefined, subject: undefined }
  t.strictSame(lineOf(unread, { ...ENDING, status: undefined }), {
    reqId: 'a-1', outcome: 'ok', durationMs: 1.23
  })
})

t.test('says how a call ended, and who called', async (t) => {
  const principal = { subject: 'ada', scopes: new Set<string>() }
  for (const [facts, ending, outcome] of [
    [{ isToolError: true }, {}, 'tool_error'],
    [{ isToolError: true, special: 'limited' }, {}, 'limited'],
    [{ isToolError: true, special: 'timed_out' }, {}, 'timed_out'],
    [{}, { error: new HandlerTimeout(1), protocolError: methodNotFound('a') }, 'timed_out']
  ] as const) {
    const line = lineOf({ ...OBSERVED, principal, ...facts }, { ...ENDING, ...ending })
    t.match(line, { outcome, subject: 'ada' })
  }
})

t.test('says why a request was refused', async (t) => {
  const protocolError = methodNotFound('none')
  t.match(lineOf(OBSERVED, { ...ENDING, protocolError }), { outcome: 'invalid', code: -32601 })
  t.match(lineOf(OBSERVED, { ...ENDING, isCancelled: true }), { outcome: 'cancelled' })
  const refused = { reason: 'origin', address: '192.0.2.1', path: '/', host: undefined, origin: undefined }
  t.match(lineOf({ ...OBSERVED, refused }, ENDING), { reason: 'origin', address: '192.0.2.1' })
})
