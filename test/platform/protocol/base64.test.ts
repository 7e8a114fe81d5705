import fc from 'fast-check'
import t from 'tap'
import { isBase64, toBase64 } from '../../../src/platform/protocol/base64.ts'

t.test('accepts what is base64, and nothing else (134, 151)', async (t) => {
  for (const text of ['', 'AA==', 'AAA=', 'AAAA', 'AB==', 'a+/9']) t.ok(isBase64(text), text)
  for (const text of [
    'A', 'AA', 'AAA', 'abcde', 'A===', '====', 'AA=A', 'AA==AAAA', 'AA= =', 'AAA\n', 'A-AA', 'A_AA', 'AAA日',
    'hunter2!', 'data:image/png;base64,AAAA'
  ]) t.notOk(isBase64(text), text)
})

t.test('agrees with the definition in RFC 4648 for any text (134, 151)', async () => {
  const pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
  const characters = fc.constantFrom('A', 'b', '9', '+', '/', '=', '-', '_', '\n', ' ', 'é', '日')
  const text = fc.string({ unit: characters })
  fc.assert(fc.property(text, (text) => isBase64(text) === pattern.test(text)), { numRuns: 2000 })
  fc.assert(fc.property(fc.uint8Array(), (bytes) => isBase64(toBase64(bytes))))
})

t.test('encodes the bytes of a view, and not of its whole buffer (151)', async (t) => {
  t.equal(toBase64(Buffer.from('xaby').subarray(1, 3)), 'YWI=')
})
