// What the log of `trivet dev` may show of a call: never the value of a secret.

import t from 'tap'
import { toAuditRule } from '../../../src/catalog/compiled/definitions/audit-rule.ts'
import { createCallDetails } from '../../../src/features/audit/call-details.ts'
import { insufficientScope, internalError, invalidParams } from '../../../src/platform/protocol/errors.ts'
import type { Ending, Observed } from '../../../src/request/pipeline/observer.ts'

const SECRET = 'canary4711'
const SCHEMA = {
  type: 'object',
  properties: { phrase: { type: 'string', format: 'password' }, number: { writeOnly: true }, open: {} }
}
const OUTPUT = { type: 'object', properties: { code: { type: 'integer', writeOnly: true } } }
const rule = toAuditRule({}, Object.keys(SCHEMA.properties), SCHEMA, OUTPUT)
const secrets = new Map<object, readonly string[]>([[{}, [SECRET, 'line one\nline "two"', '815']], [{}, []]])

interface Facts {
  readonly args?: { readonly [name: string]: unknown }
  readonly result?: unknown
  readonly observed?: Partial<Observed>
  readonly ending?: Partial<Ending>
}

function detailsOf ({ args, result, observed, ending }: Facts, isShown = true): object {
  const describe = createCallDetails({ isShown: () => isShown, readSecrets: () => secrets })
  return describe({
    requestId: 'a-1',
    method: 'tools/call',
    subject: 'a',
    principal: undefined,
    revision: undefined,
    isBegun: true,
    isToolError: false,
    callArguments: { rule, args },
    ...observed
  }, {
    durationMs: 1,
    status: 200,
    protocolError: undefined,
    error: undefined,
    isCancelled: false,
    ...result !== undefined && { result: JSON.stringify(result) },
    ...ending
  })
}

t.test('shows the arguments, and of the result what its author has made', async (t) => {
  const args = { open: 'x' }
  const text = (text: string) => ({ type: 'text', text })
  for (const [result, shown] of [
    [{ structuredContent: { a: 1 }, content: [text('{"a":1}')], resultType: 'complete' }, { a: 1 }],
    [{ content: [text('done')] }, 'done'],
    [{ content: [text('one'), { type: 'image', mimeType: 'image/png', data: 'AA==' }] },
      ['one', { type: 'image', mimeType: 'image/png', data: 'AA==' }]],
    [{ messages: [{ role: 'user', content: text('ask') }] }, 'ask'],
    [{ contents: [{ uri: 'a://b', text: '[1,2]' }, { uri: 'a://c', text: '{no' }] }, [[1, 2], '{no']],
    [{ resultType: 'task', taskId: 'x' }, { resultType: 'task', taskId: 'x' }]
  ]) t.strictSame(detailsOf({ args, result }), { arguments: args, result: shown })
  t.strictSame(detailsOf({ ending: { result: '' } }), {}, 'an undo has no result')
  t.strictSame(detailsOf({}), {})
})

t.test('shows nothing of other methods, nor where the log has no such lines', async (t) => {
  t.strictSame(detailsOf({ args: { open: 'x' }, observed: { method: 'tools/list' } }), {})
  t.strictSame(detailsOf({ args: { open: 'x' } }, false), {})
})

t.test('a long result is told by its size', async (t) => {
  const result = JSON.stringify({ content: [{ type: 'text', text: 'a'.repeat(300_000) }] })
  t.strictSame(detailsOf({ ending: { result } }), { result: `${result.length} bytes of JSON` })
  t.strictSame(detailsOf({ ending: { result: Buffer.from('{"content":[{"type":"text","text":"a"}]}') } }), {
    result: 'a'
  })
})

t.test('a secret is not in the arguments, nor in a result or an error that repeats it', async (t) => {
  const args = { phrase: SECRET, number: 4812, password: { parts: ['canary4712', 99] }, open: 'x 4812' }
  const echo = { content: [{ type: 'text', text: `got ${SECRET}, 4812, canary4712 and 99` }] }
  t.strictSame(detailsOf({ args, result: echo }), {
    arguments: { phrase: '[redacted]', number: '[redacted]', password: '[redacted]', open: 'x [redacted]' },
    result: 'got [redacted], [redacted], [redacted] and [redacted]'
  })
  const protocolError = invalidParams(
    'arguments for a:\n- phrase: must have 3 characters, got "canary47…"\n- b: no'
  )
  t.match(detailsOf({ args, ending: { protocolError } }), {
    error: 'Invalid params: arguments for a:\n- phrase: must have 3 characters\n- b: no'
  })
  const refused = { content: [{ type: 'text', text: 'Invalid:\n- phrase: too long, got "canary47…"' }] }
  t.match(detailsOf({ args, result: refused, observed: { isToolError: true } }), {
    result: 'Invalid:\n- phrase: too long'
  })
  t.match(detailsOf({ args: { open: 1 }, result: refused, observed: { isToolError: true } }), {
    result: 'Invalid:\n- phrase: too long, got "canary47…"'
  }, 'no secret was given')
})

t.test('the values of secret settings are nowhere, whatever holds them', async (t) => {
  const result = { structuredContent: { a: `x${SECRET}y`, [SECRET]: 815, c: 'line one\nline "two"!' } }
  t.strictSame(detailsOf({ args: { open: [SECRET] }, result }), {
    arguments: { open: ['[redacted]'] },
    result: { a: 'x[redacted]y', '[redacted]': '[redacted]', c: '[redacted]!' }
  })
  const text = JSON.stringify({ inner: 'line one\nline "two"' })
  t.strictSame(detailsOf({ result: { content: [{ type: 'text', text: `see ${text}` }] } }), {
    result: 'see {"inner":"[redacted]"}'
  })
})

t.test('a member with the name of a secret is not shown, also in a text that is JSON', async (t) => {
  const result = { content: [{ type: 'text', text: '{"token":"abc","code":7,"n":1}' }] }
  t.strictSame(detailsOf({ result }), { result: { token: '[redacted]', code: '[redacted]', n: 1 } })
})

t.test('a refusal for scopes has the scopes, and an error of the service only its own line', async (t) => {
  const principal = { subject: 'ada', scopes: new Set(['a:read']) }
  const protocolError = insufficientScope(['a:write'])
  t.strictSame(
    detailsOf({ observed: { principal, neededScopes: ['a:write'] }, ending: { protocolError } }),
    { neededScopes: ['a:write'], callerScopes: ['a:read'] }
  )
  t.strictSame(
    detailsOf({ args: { open: 1 }, observed: { method: 'completion/complete', neededScopes: ['a:write'] } }),
    { neededScopes: ['a:write'], callerScopes: [] }, 'of any method'
  )
  t.strictSame(detailsOf({ ending: { protocolError: internalError(new Error('x'), 'a-1') } }), {})
})
