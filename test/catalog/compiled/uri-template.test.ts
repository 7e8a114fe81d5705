import fc from 'fast-check'
import t from 'tap'
import { createUriTemplate } from '../../../src/catalog/compiled/resources/uri-template.ts'

type Values = { readonly [name: string]: string | readonly string[] }

// RFC 6570, section 3: each operator, expanded and read back.
const both: ReadonlyArray<readonly [template: string, values: Values, uri: string]> = [
  ['book://{id}', { id: '42' }, 'book://42'],
  ['book://{id}', { id: 'a b/c' }, 'book://a%20b%2Fc'],
  ['book://{shelf}/{id}', { shelf: 'x', id: 'y' }, 'book://x/y'],
  ['x://{a,b}', { a: '1', b: '2' }, 'x://1,2'],
  ['x://{a*}', { a: ['1', '2,3'] }, 'x://1,2%2C3'],
  ['file:///{+path}', { path: 'a/b/c.md' }, 'file:///a/b/c.md'],
  ['x://{+a,b}', { a: 'p/q', b: 'r' }, 'x://p/q,r'],
  ['x://page{#section}', { section: 'top/1' }, 'x://page#top/1'],
  ['x://www{.domain*}', { domain: ['example', 'com'] }, 'x://www.example.com'],
  ['x://h{.a,b}', { a: '1', b: '2' }, 'x://h.1.2'],
  ['x://h{/segments*}', { segments: ['a', 'b c'] }, 'x://h/a/b%20c'],
  ['x://h{/a,b}', { a: '1', b: '2' }, 'x://h/1/2'],
  ['x://h{;a,b}', { a: '1', b: '' }, 'x://h;a=1;b'],
  ['x://h{;a,ab}', { ab: '1' }, 'x://h;ab=1'],
  ['x://h{;list*}', { list: ['1', '2;3'] }, 'x://h;list=1;list=2%3B3'],
  ['x://h{?q,page}', { q: 'a&b=c', page: '2' }, 'x://h?q=a%26b%3Dc&page=2'],
  ['x://h{?q}', { q: '' }, 'x://h?q='],
  ['x://h{?tags*}', { tags: ['a', 'b'] }, 'x://h?tags=a&tags=b'],
  ['x://h?fixed=1{&q}', { q: 'x' }, 'x://h?fixed=1&q=x'],
  ['x://h?a={a}', { a: '1' }, 'x://h?a=1'],
  ['x://größe/{id}', { id: 'ü' }, 'x://gr%C3%B6%C3%9Fe/%C3%BC']
]

for (const [text, values, uri] of both) {
  t.test(`expands ${text} to ${uri} and reads it back (150, 153)`, async (t) => {
    const template = createUriTemplate(text)
    t.equal(template.expand(values), uri)
    const found = template.match(uri)
    t.not(found, undefined)
    for (const name of template.variables) t.same(found?.[name], values[name], name)
  })
}

const strangers: ReadonlyArray<readonly [template: string, uris: readonly string[]]> = [
  [
    'book://{id}',
    [
      'book://', 'book://a/b', 'book://a?b', 'book://a#b', 'xbook://a', 'BOOK://a', 'book:/a', '',
      'book://{id}x/'
    ]
  ],
  ['book://{id}/cover', ['book://1', 'book://1/cover/', 'book://1/Cover']],
  ['x://{a,b}', ['x://1', 'x://1,2,3']],
  ['x://a.b/{c}', ['x://aXb/1']],
  ['x://h{?q}', ['x://h?other=1', 'x://h?q=1&q=2', 'x://h?q=1#f', 'x://h/q=1', 'x://h?=1']],
  ['x://h?fixed=1{&q}', ['x://h', 'x://h?q=1', 'x://h?fixed=2&q=1', 'x://h?fixed=1&fixed=1']],
  ['x://h{;a}', ['x://h;b=1', 'x://h;ab=1']]
]

for (const [text, uris] of strangers) {
  t.test(`${text} matches no other URI`, async (t) => {
    for (const uri of uris) t.equal(createUriTemplate(text).match(uri), undefined, uri)
  })
}

t.test('reads a query in any order, with or without each variable', async (t) => {
  const template = createUriTemplate('shop://orders{?status,page}')
  t.match(template.match('shop://orders?page=2&status=open'), { status: 'open', page: '2' })
  t.match(template.match('shop://orders?page=2'), { status: undefined, page: '2' })
  t.match(template.match('shop://orders'), { status: undefined, page: undefined })
  t.match(createUriTemplate('x://h?fixed=1{&q}').match('x://h?q=2&fixed=1'), { q: '2' })
  t.match(createUriTemplate('x://h?größe=ü{&q}').match('x://h?q=2&gr%C3%B6%C3%9Fe=%C3%BC'), { q: '2' })
})

t.test('an optional expression may be missing', async (t) => {
  t.match(createUriTemplate('x://h{/a,b}').match('x://h/1'), { a: '1', b: undefined })
  t.match(createUriTemplate('x://h{#a}').match('x://h'), { a: undefined })
  t.match(createUriTemplate('x://h{.a}').match('x://h'), { a: undefined })
  t.match(createUriTemplate('x://h{;a*}').match('x://h'), { a: undefined })
})

t.test('a literal matches both raw and percent-encoded', async (t) => {
  t.match(createUriTemplate('x://größe/{id}').match('x://größe/1'), { id: '1' })
})

t.test('malformed percent-encoding does not match', async (t) => {
  for (const uri of ['x://%', 'x://%zz', 'x://%e0%a4', 'x://%ff']) {
    t.equal(createUriTemplate('x://{a}').match(uri), undefined, uri)
  }
  for (const uri of ['x://h?q=%', 'x://h?%=1', 'x://h?q=%ff']) {
    t.equal(createUriTemplate('x://h{?q}').match(uri), undefined, uri)
  }
})

t.test('decodes dots and slashes: the reader must check them (158)', async (t) => {
  t.match(createUriTemplate('x://{a}').match('x://..%2F..%2Fetc'), { a: '../../etc' })
})

t.test('a variable may have the name of a member of every object', async (t) => {
  const found = createUriTemplate('x://{a}').match('x://1')
  t.equal(found?.constructor, undefined)
  t.match(Object.entries(createUriTemplate('x://{__proto__}').match('x://1') ?? {}), [['__proto__', '1']])
})

const malformed: ReadonlyArray<readonly [template: string, problem: RegExp]> = [
  ['x://{a', /unbalanced \{/],
  ['x://a}', /unbalanced \}/],
  ['x://{{a}}', /unbalanced/],
  ['x://{}', /does not know: \{\}/],
  ['x://{+}', /does not know/],
  ['x://{!a}', /malformed variable "!a"/],
  ['x://{=a}', /malformed variable/],
  ['x://{a b}', /malformed variable/],
  ['x://{a,}', /malformed variable ""/],
  ['x://{a:3}/{a*}', /explodes the variable "a" in one place and not in another/],
  ['x://{a}/{a*}', /explodes the variable "a" in one place and not in another/],
  ['x://h{&a,b*}', /^has \{&a,b\*\} without a \? before it: write \{\?a,b\*\}$/],
  ['x://h?v=1{?a}', /^has \{\?a\} after another \?: write \{&a\}$/],
  ['x://h{?a}{?b:3}', /^has \{\?b:3\} after another \?: write \{&b:3\}$/],
  ['x://{+a}{b}', /^has \{\+a\}\{b\}: put a text between them that says where the first one ends$/],
  ['x://{%41}', /^has a percent-encoded variable "%41": use letters, digits, \. and _$/]
]

for (const [text, message] of malformed) {
  t.test(`refuses the template ${text}`, async (t) => {
    t.throws(() => createUriTemplate(text), { name: 'SyntaxError', message })
  })
}

t.test('has its variables, and the length of its literals', async (t) => {
  const template = createUriTemplate('shop://{kind}/all{?page,size*}')
  t.same([...template.variables], ['kind', 'page', 'size'])
  t.equal(template.text, 'shop://{kind}/all{?page,size*}')
  t.equal(template.literalLength, 'shop://'.length + '/all'.length)
})

const MAX_ATTEMPTS = 30

/** The CPU time of a match in milliseconds. */
function timeOf (match: (uri: string) => unknown, uri: string): number {
  const start = process.cpuUsage()
  match(uri)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

t.test('the time of a match does not grow faster than the URI', async (t) => {
  for (const text of [
    'x://{a}-{b}-{c}-{d}', 'x://{+a}-{+b}-{+c}-{+d}!', 'x://h{/a*}/{b}!', 'x://{a*}.{b}.{c}!'
  ]) {
    const { match } = createUriTemplate(text)
    const toUri = (length: number) => `x://${'-'.repeat(length)}`
    // For four times the length the factor is 4 when linear, 16 when quadratic, 64 when cubic.
    let [before, after] = [Infinity, Infinity]
    for (let attempt = 0; attempt < MAX_ATTEMPTS && (attempt < 5 || after > 12 * before + 5); attempt++) {
      before = Math.min(before, timeOf(match, toUri(2000)))
      after = Math.min(after, timeOf(match, toUri(8000)))
    }
    t.ok(after < 12 * before + 5, `${text}: ${before.toFixed(2)} ms, then ${after.toFixed(2)} ms`)
  }
})

// Values that can always be read back: unreserved text with any escaped character, but without a separator of
// the expression.
const text = fc.string({
  unit: fc.oneof(fc.constantFrom(...'abcXYZ019-_~'), fc.constantFrom(...' /?#&=;,%+é日😀"<>[]{}\'')),
  minLength: 1
})
const path = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_~/:@é日 '), minLength: 1 })
const list = fc.array(text, { minLength: 1, maxLength: 4 })

const generated: ReadonlyArray<readonly [template: string, values: fc.Arbitrary<Values>]> = [
  ['x://{a}/{b}', fc.record({ a: text, b: text })],
  ['x://{a,b}', fc.record({ a: text, b: text })],
  ['x://{a*}', fc.record({ a: list })],
  ['x://h/{+a}', fc.record({ a: path })],
  ['x://h{#a}', fc.record({ a: path })],
  ['x://h{.a*}', fc.record({ a: list })],
  ['x://h{/a*}', fc.record({ a: list })],
  ['x://h{;a,ab,c*}', fc.record({ a: text, ab: text, c: list }, { requiredKeys: [] })],
  ['x://h/{a}{?b,c,d*}', fc.record({ a: text, b: text, c: text, d: list }, { requiredKeys: ['a'] })],
  ['x://h?v=1{&b,d*}', fc.record({ b: text, d: list }, { requiredKeys: [] })]
]

for (const [template, values] of generated) {
  t.test(`reads back every value that ${template} expands`, async (t) => {
    const { expand, match } = createUriTemplate(template)
    fc.assert(fc.property(values, (given) => {
      const found = match(expand(given)) ?? {}
      return Object.entries(given).every(
        ([name, value]) => JSON.stringify(found[name]) === JSON.stringify(value)
      )
    }), { numRuns: 200 })
  })
}

t.test('matches any string without an error', async () => {
  const templates = generated.map(([text]) => createUriTemplate(text))
  const any = fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl({
    withQueryParameters: true, withFragments: true
  }),
  fc.string({
    unit: fc.constantFrom(
      'x://', 'h', 'a', '%', '%2', '%ff', '?', '&', '=', ';', ',', '.', '/', '#', '\ud800', '😀'
    )
  }))
  fc.assert(fc.property(any, fc.constantFrom(...templates), (uri, template) => {
    template.match(uri)
  }), { numRuns: 1000 })
})

t.test('a variable may stand in several places, in some with a prefix', async (t) => {
  const cases: ReadonlyArray<readonly [text: string, uri: string, variables: object | undefined]> = [
    ['x://{a:3}', 'x://abc', { a: 'abc' }],
    ['x://{a:3}', 'x://ab', { a: 'ab' }],
    ['x://{a:3}', 'x://abcd', undefined],
    ['x://{a:2}', 'x://%C3%A4%C3%B6', { a: 'äö' }],
    ['x://{a:1}/{a}', 'x://t/trivet', { a: 'trivet' }],
    ['x://{a:1}/{a}', 'x://x/trivet', undefined],
    ['x://{a}/{a:2}/{a:1}', 'x://trivet/tr/t', { a: 'trivet' }],
    ['x://{a:1}/{a:2}', 'x://t/tr', { a: 'tr' }],
    ['x://{a}/{a}', 'x://b/b', { a: 'b' }],
    ['x://{a}/{a}', 'x://b/c', undefined],
    ['x://{a}{?a,b}', 'x://1?b=2&a=1', { a: '1', b: '2' }],
    ['x://{a}{?a}', 'x://1?a=2', undefined],
    ['x://{?a:2}', 'x://?a=12', { a: '12' }],
    ['x://{?a:2}', 'x://?a=123', undefined]
  ]
  for (const [text, uri, variables] of cases) {
    const template = createUriTemplate(text)
    const match = template.match(uri)
    t.strictSame(match && { ...match }, variables, `${text} ${uri}`)
    if (match !== undefined && !text.includes('?')) t.equal(template.expand(variables as never), uri)
  }
  t.strictSame(createUriTemplate('x://{a:1}/{a}').variables, ['a'])
})
