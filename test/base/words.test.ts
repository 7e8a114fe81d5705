import t from 'tap'
import { counted, messageOf, quote } from '../../src/base/words.ts'

t.test('quotes a text of a client as JSON of at most 100 characters', async (t) => {
  t.equal(quote('a "b"\n'), '"a \\"b\\"\\n"')
  t.equal(quote('x'.repeat(1_000_000)), `"${'x'.repeat(100)}…"`)
})

t.test('writes a number with its noun', async (t) => {
  t.strictSame([0, 1, 2].map((count) => counted(count, 'call')), ['0 calls', '1 call', '2 calls'])
  t.equal(counted(2, 'entry', 'entries'), '2 entries')
})

t.test('has a text for whatever was thrown', async (t) => {
  t.strictSame([new TypeError('late'), 'late', undefined].map(messageOf), ['late', 'late', 'undefined'])
  const odd = Object.assign(new Error('x'), { message: { a: 1 } })
  const objects = [{ reason: 'late' }, Object.create(null), odd]
  t.strictSame(objects.map(messageOf), ["{ reason: 'late' }", '[Object: null prototype] {}', '{ a: 1 }'])
})
