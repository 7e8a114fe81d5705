import fc from 'fast-check'
import t from 'tap'
import { MAX_URI_LENGTH, toUri } from '../../../src/catalog/compiled/resources/uri.ts'

const cases: ReadonlyArray<readonly [text: string, uri: string | undefined]> = [
  ['note://a', 'note://a'],
  ['note://日本', 'note://%E6%97%A5%E6%9C%AC'],
  ['note://a b', 'note://a%20b'],
  ['note://a%20b', 'note://a%20b'],
  ['note://%e6/😀?ü#é', 'note://%e6/%F0%9F%98%80?%C3%BC#%C3%A9'],
  ['file:///app/[id]/page.tsx', 'file:///app/%5Bid%5D/page.tsx'],
  ['http://[::1]:80/a[1]', 'http://[::1]:80/a%5B1%5D'],
  ['x://u@[::1]', 'x://u@[::1]'],
  ['x:"<>\\^`{|}\0', 'x:%22%3C%3E%5C%5E%60%7B%7C%7D%00'],
  ['mailto:a@b.example', 'mailto:a@b.example'],
  ['urn:isbn:1', 'urn:isbn:1'],
  ['', undefined],
  ['a', undefined],
  ['/a', undefined],
  ['日本://a', undefined],
  ['note://100%', undefined],
  ['note://%zz', undefined],
  ['note://a:b', 'note://a:b'],
  ['note://a#b#c', undefined],
  ['note://\ud800', undefined]
]

for (const [text, uri] of cases) {
  t.test(`${JSON.stringify(text)} ${uri === undefined ? 'is not a URI' : 'is a URI'} (150)`, async (t) => {
    t.equal(toUri(text), uri)
  })
}

t.test('a URI has one form, and stands for the same text', async () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
    const uri = toUri(`x:/${text.replaceAll(/[%#?.]/g, '').replaceAll('//', '')}`)
    return uri !== undefined && toUri(uri) === uri && /^[!-~]+$/.test(uri) && uri === new URL(uri).href
  }))
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => {
    const uri = toUri(text)
    return uri === undefined || (toUri(uri) === uri && decodeURIComponent(uri) === decodeURIComponent(text))
  }))
})

t.test('a text is no URI when it is longer than the limit, also when its encoding makes it so', async (t) => {
  const longest = `x://${'a'.repeat(MAX_URI_LENGTH - 4)}`
  t.equal(toUri(longest), longest)
  t.equal(toUri(`${longest}a`), undefined)
  t.type(toUri(`x://${'é'.repeat(1000)}`), 'string')
  t.equal(toUri(`x://${'é'.repeat(2000)}`), undefined)
})

t.test('the time of reading is linear in the text', async (t) => {
  const before = process.cpuUsage()
  for (const text of ['x://a@:', 'x:a ', 'x://[', 'x:%', 'x://日']) toUri(text.repeat(20_000))
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 3_000_000, `${user + system} µs`)
})
