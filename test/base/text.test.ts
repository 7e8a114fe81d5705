import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { cut, partsOf, toWellFormedJson } from '../../src/base/text.ts'
import { clip } from '../../src/base/words.ts'
import { anyText } from '../helpers/any-text.ts'

const HALF = /(?<!\\)(?:\\\\)*\\ud[89a-f]/
const toWellFormed = (value: unknown): unknown => JSON.parse(
  JSON.stringify(value).replaceAll(/"(?:[^"\\]|\\.)*"/g, (text) => (
    JSON.stringify(String(JSON.parse(text)).toWellFormed())
  ))
)

t.test('JSON of any value becomes that of its well-formed texts, names included', async (t) => {
  const anyValue = fc.jsonValue({ stringUnit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) })
  fc.assert(fc.property(fc.oneof(anyValue, anyText(), fc.dictionary(anyText(), anyText())), (value) => {
    const json = toWellFormedJson(JSON.stringify(value))
    return !HALF.test(json) && json.length === JSON.stringify(value).length &&
      isDeepStrictEqual(JSON.parse(json), toWellFormed(value))
  }), { numRuns: 300 })
})

t.test('a text that looks like an escape stays', async (t) => {
  const texts = [
    '\\ud800', '\\\\ud800', '\\\ud800', '\\\\\ud800', 'C:\\udev', '\\udots', '\ud800\udbff'
  ]
  for (const text of texts) {
    t.equal(JSON.parse(toWellFormedJson(JSON.stringify(text))), text.toWellFormed(), JSON.stringify(text))
    t.strictSame(
      Object.keys(JSON.parse(toWellFormedJson(JSON.stringify({ [text]: 1 })))), [text.toWellFormed()]
    )
  }
})

t.test('JSON of well-formed texts is the same string', async (t) => {
  const json = JSON.stringify({ text: 'naïve 👩‍💻 \\ud800', name: '\u0000' })
  t.equal(toWellFormedJson(json), json)
})

t.test('megabytes of backslashes take linear time', async (t) => {
  const json = JSON.stringify(`${'\\'.repeat(4_000_000)}x${'\\u'.repeat(500_000)}\ud800`)
  const before = process.cpuUsage()
  t.equal(toWellFormedJson(json).endsWith('\\ufffd"'), true)
  const { user, system } = process.cpuUsage(before)
  t.ok((user + system) / 1000 < 1000, `${(user + system) / 1000} ms`)
})

const GRAPHEMES = {
  'a family': '👨‍👩‍👧‍👦',
  'a profession with a tone of skin': '👩🏽‍💻',
  'a flag': '🇩🇪',
  'the flag of Scotland': '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
  'a keycap': '1\ufe0f\u20e3',
  'a letter with accents': 'e\u0323\u0302',
  'a Hangul syllable of its parts': '\u1112\u1161\u11ab',
  'Devanagari with a vowel sign': 'नि',
  'a character beyond the first plane': '\u{20000}',
  'a line end': '\r\n',
  'an ASCII letter': 'a'
}
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
const lengthsOf = (text: string) => new Set(
  [0, ...Array.from(segmenter.segment(text), ({ index, segment }) => index + segment.length)]
)

t.test('a cut is between two graphemes, as close to the limit as one can be', async (t) => {
  for (const [name, grapheme] of Object.entries(GRAPHEMES)) {
    for (const text of [grapheme.repeat(80), `x${grapheme.repeat(80)}`, `🇫🇷${grapheme.repeat(80)}`]) {
      const boundaries = [...lengthsOf(text)]
      for (let limit = grapheme.length + 4; limit < Math.min(text.length, 600); limit += 7) {
        const closest = Math.max(...boundaries.filter((one) => one <= limit))
        t.equal(cut(text, limit).length, closest, `${name}, ${limit}`)
      }
    }
  }
})

t.test('a cut of any graphemes is between two of them', async (t) => {
  const texts = fc.array(
    fc.constantFrom(...Object.values(GRAPHEMES)), { minLength: 20, maxLength: 400 }
  ).map((graphemes) => graphemes.join(''))
  fc.assert(fc.property(texts, fc.integer({ min: 20, max: 1000 }), (text, limit) => {
    const part = cut(text, limit)
    return text.startsWith(part) && part.length <= limit && lengthsOf(text).has(part.length)
  }), { numRuns: 500 })
})

t.test('parts of any text are the text, and no part is too long', async (t) => {
  fc.assert(fc.property(anyText({ maxLength: 300 }), fc.integer({ min: 1, max: 60 }), (text, limit) => {
    const parts = [...partsOf(text, limit)]
    // A limit of one has no room for a pair.
    return parts.join('') === text && parts.every(({ length }) => length <= Math.max(limit, 2))
  }), { numRuns: 300 })
  t.strictSame([...partsOf('', 10)], [''])
})

t.test('a grapheme longer than the limit is cut between its code points', async (t) => {
  const long = `a${'\u{1d165}'.repeat(100_000)}`
  for (const limit of [2, 3, 40, 41, 1000, 1001]) {
    const part = cut(long, limit)
    t.ok(part.length <= limit && part.length >= limit - 1 && part.isWellFormed(), `${limit}: ${part.length}`)
  }
})

t.test('the cost of a cut does not grow with the text', async (t) => {
  const texts = ['a' + '\u0301'.repeat(1_000_000), '\u200d'.repeat(1_000_000), '👨‍👩‍👧‍👦'.repeat(100_000)]
  cut(texts[0] ?? '', 100)
  const before = process.cpuUsage()
  for (const text of texts) for (let i = 0; i < 100; i++) cut(text, 1000)
  const { user, system } = process.cpuUsage(before)
  t.ok((user + system) / 1000 < 300, `${(user + system) / 1000} ms`)
})

t.test('a clipped text ends in a mark', async (t) => {
  t.equal(clip('a'.repeat(101)), `${'a'.repeat(100)}…`)
  t.equal(clip(`${'a'.repeat(99)}👍🏽`), `${'a'.repeat(99)}…`)
  t.equal(clip('a'.repeat(100)), 'a'.repeat(100))
})
