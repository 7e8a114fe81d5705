// A template reads back what it expands: each operator of RFC 6570, each modifier, and each kind of value.

import t, { type Test } from 'tap'
import { parseTemplate } from 'url-template'
import { createUriTemplate } from '../../../src/catalog/compiled/resources/uri-template.ts'

type Values = { readonly [name: string]: string | string[] }

const OPERATORS = ['', '+', '#', '.', '/', ';', '?', '&'] as const
type Operator = typeof OPERATORS[number]

const TEXTS = ['', 'a', 'ü 日😀', 'a b', 'a/b?c#d', 'a,b;c=d&e', 'a.b', '50%', '%41', '[x]', '100% {y}']

/** Characters and texts that an operator leaves as they are, although they end or change its values. */
const CHANGED: { readonly [operator in Operator]: RegExp } = {
  '': /^$/, '+': /^$|%41/, '#': /%41/, '.': /\./, '/': /(?!)/, ';': /(?!)/, '?': /(?!)/, '&': /(?!)/
}

/** With several values, those operators also leave the comma that separates them. */
const hasSeparator = (operator: Operator, text: string) =>
  (operator === '+' || operator === '#') && text.includes(',')

const startOf = (operator: Operator) => operator === '&' ? 'x://h?v=1' : 'x://h/r'

function assertReadsBack (t: Test, text: string, values: Values, expected: Values = values): void {
  const uri = parseTemplate(text).expand({ ...values })
  const match = createUriTemplate(text).match(uri)
  t.strictSame({ ...match }, { ...match, ...expected }, `${text} ${JSON.stringify(values)} ${uri}`)
  t.equal(match === undefined, false, `${text} matches ${uri}`)
}

for (const operator of OPERATORS) {
  const texts = TEXTS.filter((text) => !CHANGED[operator].test(text))
  const separate = texts.filter((text) => !hasSeparator(operator, text))
  const start = startOf(operator)

  t.test(`reads back a value of {${operator}a} (150, 153)`, async (t) => {
    for (const a of texts) assertReadsBack(t, `${start}{${operator}a}`, { a })
  })

  t.test(`reads back the prefix of a value of {${operator}a:3}`, async (t) => {
    for (const a of texts) {
      assertReadsBack(t, `${start}{${operator}a:3}`, { a }, { a: [...a].slice(0, 3).join('') })
    }
  })

  t.test(`reads back lists of {${operator}a*}`, async (t) => {
    for (const text of separate) {
      for (const a of [[text], [text, 'z'], ['z', text, text]]) {
        assertReadsBack(t, `${start}{${operator}a*}`, { a })
      }
    }
  })

  t.test(`reads back two values of {${operator}a,b}`, async (t) => {
    for (const text of separate) {
      assertReadsBack(t, `${start}{${operator}a,b}`, { a: text, b: 'z' })
      assertReadsBack(t, `${start}{${operator}a,b}`, { a: 'z', b: text })
    }
  })

  if (operator === '' || operator === '+') {
    t.test(`{${operator}a} needs a value: an empty one expands as none does`, async (t) => {
      t.equal(createUriTemplate(`x://h/{${operator}a}`).match('x://h/'), undefined)
    })
  } else {
    t.test(`each variable of {${operator}a,b} may be left out`, async (t) => {
      assertReadsBack(t, `${start}{${operator}a,b}`, {}, { a: undefined, b: undefined } as never)
      assertReadsBack(t, `${start}{${operator}a,b}`, { a: 'z' }, { a: 'z', b: undefined } as never)
    })
  }
}

t.test('two expressions side by side are read back, or the template is refused', async (t) => {
  const refused: string[] = []
  for (const first of OPERATORS) {
    for (const second of OPERATORS) {
      const start = first !== '?' && [first, second].includes('&') ? 'x://h?v=1' : 'x://h/r'
      const text = `${start}{${first}a}{${second}b}`
      try {
        createUriTemplate(text)
      } catch (error) {
        t.match(error, { name: 'SyntaxError' })
        refused.push(`{${first}a}{${second}b}`)
        continue
      }
      assertReadsBack(t, text, { a: 'one', b: second === '+' ? '/two' : 'two' })
    }
  }
  t.strictSame(refused, [
    '{a}{b}', '{+a}{b}', '{+a}{+b}', '{#a}{b}', '{#a}{+b}', '{.a}{b}', '{/a}{b}', '{;a}{b}', '{?a}{b}',
    '{?a}{+b}', '{?a}{?b}', '{&a}{b}', '{&a}{+b}', '{&a}{?b}'
  ])
})
