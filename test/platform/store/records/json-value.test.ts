import fc from 'fast-check'
import t from 'tap'
import {
  cloneJson, copyJson, JsonValue, readJson
} from '../../../../src/platform/store/records/json-value.ts'

const viaText = (value: unknown): unknown => {
  const json: string | undefined = JSON.stringify(value)
  return json === undefined ? undefined : JSON.parse(json)
}

/** Values that JSON keeps, omits or changes. */
const anything = fc.anything({
  withBoxedValues: true,
  withDate: true,
  withNullPrototype: true,
  withSparseArray: true,
  withMap: true,
  withTypedArray: true,
  key: fc.oneof(fc.string(), fc.constant('__proto__'), fc.constant('toJSON'))
})

/** Every object and array in a value. */
function partsOf (value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(partsOf)] : []
}

t.test('a copy equals the parsed JSON text of the value, and shares no object with it', (t) => {
  fc.assert(fc.property(anything, (value) => {
    const copy = copyJson(value)
    t.strictSame(copy, viaText(value))
    const own = new Set(partsOf(value))
    t.notOk(partsOf(copy).some((part) => own.has(part)))
  }), { numRuns: 500 })
  t.end()
})

t.test('a clone of a JSON value equals it, and shares no object with it', (t) => {
  fc.assert(fc.property(fc.jsonValue(), (json) => {
    const value = viaText(json)
    const clone = cloneJson(value)
    t.strictSame(clone, value)
    const own = new Set(partsOf(value))
    t.notOk(partsOf(clone).some((part) => own.has(part)))
  }), { numRuns: 300 })
  t.end()
})

t.test('a copy has the changes that JSON makes to a value', (t) => {
  class Point { x = 1; #y = 2; get y () { return this.#y } }
  const cases: Array<readonly [unknown, unknown]> = [
    [{ a: undefined, b: () => 1, c: Symbol('c'), [Symbol('d')]: 1 }, {}],
    [[undefined, NaN, -0, Infinity], [null, null, 0, null]],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [{ at: { toJSON: () => 'then' } }, { at: 'then' }],
    [Object.assign([1], { toJSON: () => 'list' }), 'list'],
    [new Point(), { x: 1 }],
    [{ get sum () { return 3 } }, { sum: 3 }],
    [new Map([['a', 1]]), {}],
    [Object.assign(Object.create({ inherited: 1 }), { own: 2 }), { own: 2 }],
    [undefined, undefined],
    [() => 1, undefined]
  ]
  for (const [value, copy] of cases) t.strictSame(copyJson(value), copy)
  t.end()
})

t.test('a member called __proto__ is copied as a member, and sets no prototype', (t) => {
  const value: unknown = JSON.parse('{"a":{"__proto__":{"admin":{"deep":true}}}}')
  for (const copy of [copyJson(value), cloneJson(value)]) {
    t.equal(JSON.stringify(copy), JSON.stringify(value))
    t.notOk(partsOf(copy).some((part) => Object.getPrototypeOf(part) !== Object.prototype))
  }
  t.end()
})

t.test('a value without JSON text throws, and a deep value is copied', (t) => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  t.throws(() => copyJson(cycle), TypeError)
  t.throws(() => copyJson({ n: 1n }), TypeError)
  let json = '"bottom"'
  for (let i = 0; i < 1000; i++) json = i % 2 === 0 ? `[${json}]` : `{"a":${json}}`
  const deep: unknown = JSON.parse(json)
  for (const copy of [copyJson(deep), cloneJson(deep)]) t.equal(JSON.stringify(copy), json)
  t.equal(new JsonValue(deep).isLongerThan(json.length), false)
  t.equal(new JsonValue(deep).isLongerThan(json.length - 1), true)
  t.end()
})

t.test('a value creates the bytes of its JSON text once, and can be read repeatedly', (t) => {
  const value = new JsonValue({ name: 'é', list: [1, { a: null }] })
  t.equal(value.bytes.toString(), '{"name":"é","list":[1,{"a":null}]}')
  t.equal(value.bytes, value.bytes)
  const first = readJson(value)
  t.strictSame(first, value.json)
  t.strictSame(readJson({ bytes: value.bytes }), value.json)
  t.not(first, readJson(value), 'whoever reads it may change what they got')
  t.end()
})

t.test('isLongerThan compares the exact number of bytes', (t) => {
  fc.assert(fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(200), (json, limit) => {
    const exact = Buffer.byteLength(JSON.stringify(json))
    for (const bytes of [limit, exact - 1, exact]) {
      t.equal(
        new JsonValue(json).isLongerThan(bytes), exact > bytes, `${JSON.stringify(json)}: ${exact}, ${bytes}`
      )
    }
  }), { numRuns: 500 })
  for (const text of [
    '\u0000'.repeat(50), '\ud800'.repeat(50), '€'.repeat(50), '"'.repeat(50), '😀'.repeat(50)
  ]) {
    const exact = Buffer.byteLength(JSON.stringify(text))
    for (const [json, length] of [[text, exact], [{ [text]: text }, 2 * exact + 3]] as const) {
      const value = new JsonValue(json)
      t.equal(value.isLongerThan(length), false)
      t.equal(value.isLongerThan(length - 1), true)
      t.equal(value.bytes.length, length)
    }
  }
  t.end()
})
