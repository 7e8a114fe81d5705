import { Readable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { z } from 'zod'
import { checkJsonForm, findJsonLoss, isPlainJson } from '../../../src/platform/schema/json-form.ts'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'
import { toCheck } from '../../../src/platform/schema/standard-schema.ts'

class Point { x = 1 }
class Empty { get y () { return 2 } }
class Money { #cents = 100n; toJSON () { return { cents: Number(this.#cents) } } }
class Broken { toJSON () { return new Map() } }

t.test('the first part without a JSON form is named, with its place and what to do', (t) => {
  const cyclic: { list: unknown[] } = { list: [] }
  cyclic.list.push({ back: cyclic })
  const cases: Array<readonly [unknown, string]> = [
    [{ items: [0, 1, 2, { price: 1n }] },
      '/items/3/price: a bigint has no JSON form; return a string or a number'],
    [1n, '/: a bigint has no JSON form; return a string or a number'],
    [{ a: new Map([['b', 1]]) }, '/a: a Map has no JSON form; return Object.fromEntries(map)'],
    [{ a: new Set([1]) }, '/a: a Set has no JSON form; return an array'],
    [{ a: new Response('b') },
      '/a: a Response has no JSON form; give it a method toJSON, or return a plain object'],
    [{ a: Object.assign(new Error('b'), { code: 1 }) },
      '/a: an Error has no JSON form; throw it, or return its message'],
    [(function * () { yield 1 })(), '/: a Generator has no JSON form; return an array'],
    [Readable.from(['a']), '/: a Readable has no JSON form; read it, and return what it contains'],
    [{ a: Promise.resolve(1) }, '/a: a Promise has no JSON form; await it'],
    [{ a: () => 1 }, '/a: a function has no JSON form; call it, or leave it out'],
    [{ a: Symbol('b') }, '/a: a symbol has no JSON form; return a string'],
    [{ a: NaN }, '/a: NaN has no JSON form; return null, or a string'],
    [[-Infinity], '/0: -Infinity has no JSON form; return null, or a string'],
    [{ a: [1, undefined] }, '/a/1: undefined has no JSON form here; return null'],
    // eslint-disable-next-line no-sparse-arrays
    [[1, , 2], '/1: undefined has no JSON form here; return null'],
    [{ a: new Uint8Array(2) }, '/a: a Uint8Array has no JSON form; return base64, or an array of numbers'],
    [{ a: Buffer.from('a') }, '/a: a Buffer has no JSON form; return base64, or an array of numbers'],
    [{ a: new Empty() }, '/a: an Empty has no JSON form; give it a method toJSON, or return a plain object'],
    [{ a: new Broken() }, '/a: a Map has no JSON form; return Object.fromEntries(map)'],
    [{ 'a/b': { '~': 1n } }, '/a~1b/~0: a bigint has no JSON form; return a string or a number'],
    [cyclic, '/list/0/back: a value that contains itself has no JSON form; return its id, or leave it out']
  ]
  for (const [value, loss] of cases) {
    t.equal(findJsonLoss(value), loss)
    t.notOk(isPlainJson(value), loss)
  }
  t.match(findJsonLoss(JSON.parse('['.repeat(1002) + ']'.repeat(1002))), /is nested deeper than 1000 levels/)
  t.end()
})

t.test('a value has no loss if JSON has a form for all of it', (t) => {
  const shared = { a: 1 }
  const values = [
    'a', 1, true, null, [], {}, { a: undefined }, { at: new Date(0) }, new Money(), { a: new Point() },
    new URL('a:b'), [shared, shared], Object.create(null), runInNewContext('({ a: [1] })'),
    [new String('a'), new Number(1), new Boolean(false)], // eslint-disable-line no-new-wrappers
    JSON.parse('['.repeat(200) + ']'.repeat(200)), { [Symbol('a')]: 1, b: 1 },
    JSON.parse('{"__proto__":{"a":1}}')
  ]
  for (const value of values) t.equal(findJsonLoss(value), undefined, JSON.stringify(value))
  t.end()
})

t.test('a plain value equals its parsed JSON text, and has no loss', (t) => {
  const options = { withDate: true, withMap: true, withSet: true, withBigInt: true, withSparseArray: true }
  fc.assert(fc.property(fc.anything({ ...options, withNullPrototype: true }), (value) => {
    if (!isPlainJson(value)) return
    t.equal(findJsonLoss(value), undefined)
    t.strictSame(JSON.stringify(JSON.parse(JSON.stringify(value))), JSON.stringify(value))
  }), { numRuns: 1000 })
  t.ok(isPlainJson({ a: [1, 'b', null, true, { c: undefined }], d: Object.create(null) }))
  t.ok(isPlainJson(runInNewContext('({ a: [1] })')))
  t.end()
})

t.test('a check gets the JSON form of a value that has one of its own', async (t) => {
  const { compile } = createSchemaCompiler({ useDefaults: false, showsValues: false })
  const object = (at: object) => ({ type: 'object', properties: { at }, required: ['at'] })
  const time = checkJsonForm(compile(object({ type: 'string', format: 'date-time' })), true)
  const form = { at: '1970-01-01T00:00:00.000Z' }
  t.strictSame(time({ at: new Date(0) }), { ok: true, value: form })
  t.match(time({ at: new Map() }), { ok: false, problems: [/^\/at: a Map has no JSON form/] })
  t.match(time(undefined), { ok: false, problems: ['value: must be object, got nothing'] })
  const anObject = checkJsonForm(compile(object({ type: 'object' })), true)
  t.match(anObject({ at: new Date(0) }), { ok: false, problems: ['at: must be object, got a string'] },
    'a Date is an object to the check, and a string to the client')

  const text = checkJsonForm(toCheck(z.object({ at: z.string() })), false)
  t.strictSame(text({ at: new Date(0) }), { ok: true, value: form })
  t.match(text({ at: 5 }), { ok: false, problems: [/^at: .*expected string/] })
  t.match(text({ at: new Set() }), { ok: false, problems: [/^\/at: a Set has no JSON form/] })
  const later = z.object({ at: z.unknown().refine(async () => true) })
  const any = checkJsonForm(async (value) => ({ ok: true, value: await later.parseAsync(value) }), false)
  t.strictSame(await any({ at: new Date(0) }), { ok: true, value: form })
  t.match(await any({ at: 1n }), { ok: false, problems: [/^\/at: a bigint has no JSON form/] })
  t.end()
})
