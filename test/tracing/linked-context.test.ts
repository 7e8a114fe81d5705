// A context that links to its parent behaves as that of the API.

import { createContextKey, ROOT_CONTEXT, type Context } from '@opentelemetry/api'
import t from 'tap'
import { LinkedContext } from '../../src/tracing/linked-context.ts'

const [A, B, C] = ['a', 'b', 'c'].map((name) => createContextKey(name)) as [symbol, symbol, symbol]
const values = (context: Context) => [A, B, C].map((key) => context.getValue(key))

t.test('has the values of its parent, and its own', async (t) => {
  const parent = new LinkedContext(ROOT_CONTEXT.setValue(A, 1), B, 2)
  const child = parent.setValue(C, 3).setValue(A, 4)
  t.strictSame(values(child), [4, 2, 3])
  t.strictSame(values(parent), [1, 2, undefined], 'a context never changes')
  t.strictSame(values(child.deleteValue(A)), [undefined, 2, 3])
  t.strictSame(values(child.deleteValue(A).setValue(A, 5)), [5, 2, 3])
})

t.test('links to a bounded number of parents', async (t) => {
  let deepest: Context = new LinkedContext(ROOT_CONTEXT.setValue(A, 1), B, 2)
  for (let count = 0; count < 100_000; count++) deepest = deepest.setValue(C, count)
  t.strictSame(values(deepest), [1, 2, 99_999])
})
