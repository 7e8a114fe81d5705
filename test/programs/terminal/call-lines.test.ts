// The lines below that of a call.

import t from 'tap'
import { toCallLines } from '../../../src/programs/terminal/call-lines.ts'

t.test('a value is cut to the columns of a terminal, and a text within it to less', async (t) => {
  const [line = ''] = toCallLines({ arguments: { first: 'a'.repeat(100), second: [1, true] } })
  t.equal(line, `  arguments {"first":"${'a'.repeat(31)}…","second":[1,true]}`)
  const [exact = ''] = toCallLines({ result: 'a'.repeat(69) })
  t.equal(exact, `  result "${'a'.repeat(69)}"`)
  t.equal(exact.length, 80)
  const [longer = ''] = toCallLines({ result: 'a'.repeat(70) })
  t.equal(longer, `  result "${'a'.repeat(69)}…`)
  t.equal(longer.length, 80)
  const numbers = Array.from({ length: 1000 }, (_, index) => index)
  t.match(toCallLines({ result: numbers })[0], /^ {2}result \[0,1,2.{60,}…$/)
})

t.test('a wide character counts as two columns, and a mark as none', async (t) => {
  t.equal(toCallLines({ result: '鯨'.repeat(60) })[0], `  result "${'鯨'.repeat(34)}…`)
  t.equal(toCallLines({ result: 'e\u0301'.repeat(69) })[0], `  result "${'e\u0301'.repeat(69)}"`)
})

t.test('a text gives the terminal no orders, and stays on its line', async (t) => {
  const [line = ''] = toCallLines({ result: { 'a\u202e': 'one\n\u001b[2J\u009btwo' } })
  t.equal(line, '  result {"a\\u202e":"one\\n\\u001b[2J\\u009btwo"}')
})

t.test('scopes are named, ten of them at most', async (t) => {
  const scopes = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`)
  t.strictSame(toCallLines({ neededScopes: ['a'], callerScopes: [] }), [
    '  needs the scope a; the caller has none'
  ])
  t.strictSame(toCallLines({ neededScopes: ['a', 'b'], callerScopes: scopes(11) }), [
    `  needs the scopes a b; the caller has ${scopes(10).join(' ')} and 1 other`
  ])
})

t.test('a call without any of it has no lines', async (t) => {
  t.strictSame(toCallLines({}), [])
})
