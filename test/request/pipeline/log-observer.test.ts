// The line of a request: the same from a logger and from the faster form.

import t from 'tap'
import { methodNotFound, replicaLost } from '../../../src/platform/protocol/errors.ts'
import { HandlerTimeout } from '../../../src/request/pipeline/lifetime.ts'
import { toProtocolError } from '../../../src/request/pipeline/to-protocol-error.ts'
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

/** The line in both forms. */
function lineOf (observed: Observed, ending: Ending): { readonly [form: string]: unknown } {
  const lines = { logger: {}, fast: {} }
  const logger = {
    info: (fields: object) => { lines.logger = JSON.parse(JSON.stringify(fields)) }, warn () {}, error () {}
  }
  createLogObserver({ logger }).end?.(observed, ending)
  const withoutUse = { ...logger, info: (fields: object) => { lines.fast = { slow: fields } } }
  createLogObserver({
    logger: withoutUse,
    writeInfo (fields, message) {
      t.equal(message, 'request')
      lines.fast = JSON.parse(`{${fields}}`)
    }
  }).end?.(observed, ending)
  return lines
}

t.test('the line of a request has the same fields in both forms', async (t) => {
  const facts = { reqId: 'a-1', method: 'tools/call', name: 'search', status: 200 }
  const expected = { ...facts, outcome: 'ok', durationMs: 1.23 }
  t.strictSame(lineOf(OBSERVED, ENDING), { logger: expected, fast: expected })
  const traced = { ...expected, traceId: '0af7651916cd43dd8448eb211c80319c' }
  t.strictSame(lineOf({ ...OBSERVED, traceId: traced.traceId }, ENDING), { logger: traced, fast: traced })
  const odd = 'file:///"\\\n\u2028é'
  t.match(lineOf({ ...OBSERVED, subject: odd, requestId: odd }, ENDING), {
    logger: { name: odd, reqId: odd }, fast: { name: odd, reqId: odd }
  })
  const invalid = { ...traced, outcome: 'invalid', code: -32601 }
  const refusal = { ...ENDING, protocolError: methodNotFound('none') }
  t.strictSame(lineOf({ ...OBSERVED, traceId: traced.traceId }, refusal), { logger: invalid, fast: invalid })
  const { logger, fast } = lineOf(
    { ...OBSERVED, method: undefined, subject: undefined }, { ...ENDING, status: undefined }
  )
  t.strictSame(fast, { reqId: 'a-1', outcome: 'ok', durationMs: 1.23 })
  t.strictSame(logger, fast)
})

t.test('says how a call ended, and who called', async (t) => {
  const principal = { subject: 'ada', scopes: new Set<string>() }
  for (const [facts, ending, outcome] of [
    [{ isToolError: true }, {}, 'tool_error'],
    [{ isToolError: true, special: 'limited' }, {}, 'limited'],
    [{ isToolError: true, special: 'timed_out' }, {}, 'timed_out'],
    [{}, { error: new HandlerTimeout(1), protocolError: methodNotFound('a') }, 'timed_out'],
    [{}, { protocolError: methodNotFound('a') }, 'invalid'],
    [{}, { isCancelled: true }, 'cancelled']
  ] as const) {
    const { logger, fast } = lineOf({ ...OBSERVED, principal, ...facts }, { ...ENDING, ...ending })
    t.match(logger, { outcome, subject: 'ada' })
    t.strictSame(fast, logger)
  }
})

t.test('shows the stack of an internal error', async (t) => {
  const errors: unknown[] = []
  const logger = { info () {}, warn () {}, error: (fields: object) => { errors.push(fields) } }
  for (const error of [new TypeError('a bug'), replicaLost()]) {
    const protocolError = toProtocolError(error, 'a-1')
    createLogObserver({ logger }).end?.(OBSERVED, { ...ENDING, protocolError, error })
    t.match(errors.pop(), { reqId: 'a-1', err: { stack: / at .*log-observer\.test\.ts/ } })
  }
})

t.test('the line of a refused HTTP request is that of the logger', async (t) => {
  const refused = { reason: 'origin', address: '192.0.2.1', path: '/', host: undefined, origin: undefined }
  const slow = { reason: 'origin', address: '192.0.2.1' }
  t.match(lineOf({ ...OBSERVED, refused }, ENDING), { fast: { slow } })
})
