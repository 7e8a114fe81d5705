import fc from 'fast-check'
import t from 'tap'
import { readEnvelope } from '../../../src/platform/protocol/envelope.ts'
import { invalidParams, ProtocolError } from '../../../src/platform/protocol/errors.ts'
import {
  isObject, isRequest, readMessage, readRequestId, toErrorResponse, toNotification, toResultResponse
} from '../../../src/platform/protocol/json-rpc.ts'
import { META } from '../../helpers/request.ts'

const request = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { a: 1 } }

t.test('reads a request and keeps the type of its id (52)', async (t) => {
  for (const id of [0, -7, 1, Number.MAX_SAFE_INTEGER, '', 'a', '1']) {
    const message = readMessage({ ...request, id })
    t.ok(isRequest(message))
    t.same(message, { id, method: 'tools/list', params: { a: 1 } })
  }
})

t.test('reads a message without an id as a notification (62)', async (t) => {
  const message = readMessage({ jsonrpc: '2.0', method: 'notifications/cancelled' })
  t.notOk(isRequest(message))
  t.same(message, { method: 'notifications/cancelled', params: undefined })
})

t.test('keeps only the members of a message that JSON-RPC defines', async (t) => {
  t.same(Object.keys(readMessage({ ...request, extra: true })).sort(), ['id', 'method', 'params'])
})

const refused: ReadonlyArray<readonly [claim: string, body: unknown, message: RegExp]> = [
  ['a batch (9)', [request], /batches/],
  ['an empty batch (9)', [], /batches/],
  ['a posted result (9)', { jsonrpc: '2.0', id: 1, result: {} }, /does not accept responses/],
  ['a posted error (9)', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } },
    /does not accept responses/],
  ['a null id (52)', { ...request, id: null }, /"id"/],
  ['a fractional id (52)', { ...request, id: 1.5 }, /"id"/],
  ['an id past the safe integers (52)', { ...request, id: 2 ** 53 }, /"id"/],
  ['a boolean id (52)', { ...request, id: true }, /"id"/],
  ['an object as the id (52)', { ...request, id: {} }, /"id"/],
  ['another JSON-RPC version (51)', { ...request, jsonrpc: '1.0' }, /"jsonrpc" must be "2.0"/],
  ['no JSON-RPC version (51)', { id: 1, method: 'a' }, /"jsonrpc" must be "2.0"/],
  ['a missing method', { jsonrpc: '2.0', id: 1 }, /"method" must be a string/],
  ['a method that is not a string', { ...request, method: 4 }, /"method" must be a string/],
  ['params in a list', { ...request, params: [1] }, /"params" must be an object/],
  ['null params', { ...request, params: null }, /"params" must be an object/],
  ['null', null, /must be a JSON object/],
  ['a string', 'tools/list', /must be a JSON object/]
]

for (const [claim, body, message] of refused) {
  t.test(`refuses ${claim}`, async (t) => {
    t.throws(() => readMessage(body), { name: 'ProtocolError', code: -32600, httpStatus: 400, message })
  })
}

t.test('finds the id of a refused message, if it has one (57, 58)', async (t) => {
  t.equal(readRequestId({ jsonrpc: '1.0', id: 'a' }), 'a')
  for (const body of [
    undefined, null, 'a', [request], {}, { id: null }, { id: 1.5 }, { id: [] }, { id: 1, result: {} },
    { id: 1, error: {} }
  ]) t.equal(readRequestId(body), undefined)
})

t.test('answers a result under the id of the request (54)', async (t) => {
  t.same(JSON.parse(toResultResponse('a"b', '{"x":1}')), { jsonrpc: '2.0', id: 'a"b', result: { x: 1 } })
  t.same(JSON.parse(toResultResponse(7, '{"x":"é"}')), { jsonrpc: '2.0', id: 7, result: { x: 'é' } })
})

t.test('answers with bytes that are ready, under the id of the request (54)', async (t) => {
  const response = toResultResponse('é', Buffer.from('{"x":"é"}'))
  t.same(JSON.parse(String(response)), { jsonrpc: '2.0', id: 'é', result: { x: 'é' } })
  t.equal(response.length, Buffer.byteLength(String(response)))
})

t.test('answers an error under the id of the request, with its data if it has any (57, 59)', async (t) => {
  t.same(JSON.parse(toErrorResponse(7, invalidParams('no'))), {
    jsonrpc: '2.0', id: 7, error: { code: -32602, message: 'Invalid params: no' }
  })
  t.same(JSON.parse(toErrorResponse(7, invalidParams('no', { uri: 'x:y' }))).error.data, { uri: 'x:y' })
  t.same(JSON.parse(toErrorResponse(7, invalidParams('no', () => {}))).error.data, undefined)
})

t.test('leaves the id out of the answer when it could not be read: it is never null (58)', async (t) => {
  t.notOk('id' in JSON.parse(toErrorResponse(undefined, invalidParams('no'))))
})

t.test('leaves the cause out of the answer', async (t) => {
  const error = new ProtocolError(-32603, 'Internal error', { cause: new Error('password=hunter2') })
  t.notMatch(toErrorResponse(1, error), /hunter2/)
})

t.test('writes a notification without an id (62)', async (t) => {
  t.same(JSON.parse(toNotification('notifications/x', { a: 1 })), {
    jsonrpc: '2.0', method: 'notifications/x', params: { a: 1 }
  })
  t.same(JSON.parse(toNotification('notifications/x')), { jsonrpc: '2.0', method: 'notifications/x' })
})

/** Whether the function returns a value or throws an error that a client may see. */
function returnsOrRefuses (read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    return error instanceof ProtocolError
  }
}

// Bodies that are almost messages.
const nearMessage = fc.record({
  jsonrpc: fc.oneof(fc.constant('2.0'), fc.jsonValue()),
  id: fc.jsonValue(),
  method: fc.oneof(fc.string(), fc.jsonValue()),
  params: fc.jsonValue()
}, { requiredKeys: [] })

t.test('reads any JSON value as a message or throws a ProtocolError, and no other error', async () => {
  fc.assert(fc.property(fc.oneof(fc.jsonValue(), nearMessage), (body) =>
    returnsOrRefuses(() => readMessage(body))))
})

t.test('reads any params as an envelope or throws a ProtocolError, and no other error', async () => {
  const keys = [...Object.keys(META), 'io.modelcontextprotocol/logLevel', 'progressToken']
  const values = Object.fromEntries(keys.map((key) => [key, fc.oneof(fc.string(), fc.jsonValue())]))
  const nearMeta = fc.record(values, { requiredKeys: [] })
  const params = fc.oneof(fc.jsonValue(), nearMeta.map((_meta) => ({ _meta })))
  fc.assert(fc.property(params, (value) => {
    return returnsOrRefuses(() => readEnvelope(isObject(value) ? value : undefined))
  }))
})
