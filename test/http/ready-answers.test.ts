// Lists as whole answers: what they save, and that nobody gets another's id or another's list.

import t from 'tap'
import { toReadyResponse } from '../../src/http/ready-answers.ts'
import type { RequestId } from '../../src/protocol/json-rpc.ts'

const list = (name: string, bytes = 0) => Buffer.from(JSON.stringify({ tools: [{ name, description: 'x'.repeat(bytes) }] }))
const read = (response: string | Buffer): unknown => JSON.parse(response.toString())

t.test('is the response to each request, whatever was answered before (54)', (t) => {
  const lists = [list('a'), list('a'), list('b')]
  const ids: RequestId[] = [0, 1, 7, 8, -1, 1_000_000, '1', '', 'length', '__proto__']
  for (let round = 0; round < 2; round++) {
    for (const result of lists) {
      for (const id of ids) t.strictSame(read(toReadyResponse(id, result)), { jsonrpc: '2.0', id, result: read(result) })
    }
  }
  t.end()
})

t.test('is put together once for the ids of a client that has just come', (t) => {
  const result = list('a')
  const other = list('a')
  t.equal(toReadyResponse(1, result), toReadyResponse(1, result))
  t.not(toReadyResponse(1, result), toReadyResponse(1, other))
  t.not(toReadyResponse(8, result), toReadyResponse(8, result), 'and for no others')
  t.not(toReadyResponse('1', result), toReadyResponse('1', result))
  const large = list('a', 262_144)
  t.not(toReadyResponse(1, large), toReadyResponse(1, large), 'nor where it is large')
  t.end()
})

t.test('is a text where the result is one', (t) => {
  t.equal(toReadyResponse(1, '{}'), '{"jsonrpc":"2.0","id":1,"result":{}}')
  t.end()
})
