import fc from 'fast-check'
import t from 'tap'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'
import { createLinearPattern } from '../../../src/platform/schema/linear-pattern.ts'

const characters = [
  'a', 'b', '0', '_', '-', '.', ' ', '\t', '\v', '\n', '\u2028', '\u00a0', '\ufeff', 'é', '😀', '\b'
]
const atom = fc.constantFrom(
  'a', 'b', '0', '.', '-', '\\s', '\\S', '\\d', '\\D', '\\w', '\\W', '\\.', '\\b', '\\v', '\\x61',
  '\\u00a0', '[ab]', '[^a]', '[\\s0]', '[^\\s]', '[\\S]', '[a.]', '[\\b]', '[^]', '\\p{L}',
  '\\u{1F600}', '\\ud83d\\ude00'
)
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,}', '*?')
const isQuantifiable = (one: string) => one !== '\\b'
const piece = fc.tuple(atom, quantifier).map(([one, many]) => isQuantifiable(one) ? one + many : one)
const sequence = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''))
const alternatives = fc.array(sequence, { minLength: 1, maxLength: 2 }).map((all) => `(?:${all.join('|')})`)
const conditions = fc.array(fc.tuple(fc.constantFrom('=', '!'), sequence), { maxLength: 2 })
  .map((all) => all.map(([sign, body]) => `(?${sign}${body})`).join(''))
const pattern = fc.oneof(
  sequence, alternatives, fc.tuple(conditions, alternatives).map(([before, after]) => `^${before}${after}$`)
)
const text = fc.array(fc.constantFrom(...characters), { maxLength: 6 }).map((all) => all.join(''))

t.test('a pattern matches what it matches in JavaScript', async (t) => {
  fc.assert(fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 5 }), (source, texts) => {
    const [native, linear] = [new RegExp(source, 'u'), createLinearPattern(source)]
    for (const one of texts) {
      if (native.test(one) !== linear.test(one)) {
        throw new Error(`${source} on ${JSON.stringify(one)}: ${native.test(one)} in JavaScript`)
      }
    }
  }), { numRuns: 2000 })
})

t.test('lookaheads after ^ are conditions on the whole text', async (t) => {
  const password = createLinearPattern('^(?=.*[a-z])(?=.*\\d)(?!.*(?:\\)|[)|])).{4,}$')
  t.strictSame(['abc1', 'abcd', '1234', 'a1', 'ab1)', 'ab1|'].map((one) => password.test(one)), [
    true, false, false, false, false, false
  ])
})

t.test('what takes a backtracking engine minutes takes milliseconds', async (t) => {
  const cases: ReadonlyArray<readonly [pattern: string, text: string]> = [
    ['^(a+)+$', `${'a'.repeat(100_000)}!`],
    ['\\s+$', `${' '.repeat(200_000)}!`],
    ['^(\\w+\\s?)*$', `${'word '.repeat(20_000)}!`],
    ['^(?=(a+)+$)a', `${'a'.repeat(100_000)}!`]
  ]
  for (const [source, hostile] of cases) {
    const compiler = createSchemaCompiler({ useDefaults: false })
    const check = compiler.compile({ type: 'string', pattern: source })
    const before = process.cpuUsage()
    t.equal(check(hostile).ok, false, source)
    const { user } = process.cpuUsage(before)
    t.ok(user < 1_500_000, `${source}: ${user / 1000} ms of CPU`)
  }
})

t.test('a pattern that has no linear time is a problem of the schema that says why', async (t) => {
  const compiler = createSchemaCompiler({ useDefaults: false })
  for (const source of ['(a)\\1', 'b(?=a)', '(?<=a)b', '^a|(?!b)c']) {
    const message = `pattern "${source}" cannot be matched in linear time`
    t.throws(() => compiler.compile({ properties: { a: { pattern: source } } }), {
      message: new RegExp(message.replaceAll(/[\\^$|()?[\]]/g, '\\$&'))
    })
  }
})

t.test('each pattern of a compiler is its own', async (t) => {
  const compiler = createSchemaCompiler({ useDefaults: false })
  const [a, b] = [compiler.compile({ pattern: '^a' }), compiler.compile({ pattern: '^b' })]
  const both = compiler.compile({ properties: { a: { pattern: '^a' }, b: { pattern: '^b' } } })
  t.strictSame([a('a'), a('b'), b('a'), b('b')].map(({ ok }) => ok), [true, false, false, true])
  t.equal(both({ a: 'a', b: 'b' }).ok, true)
  t.equal(both({ a: 'b', b: 'b' }).ok, false)
})
