// The repair of arguments as models send them.

import * as fc from 'fast-check'
import t from 'tap'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'
import { createRepair, type RepairOptions } from '../../../src/platform/schema/repair/argument-repair.ts'

type Options = Partial<Omit<RepairOptions, 'schema'>> & { readonly refusedPlaces?: readonly string[] }

/** Repairs a member `a` of this schema. Returns the member, and `undefined` if nothing is repaired. */
function repair (schema: unknown, a: unknown, options: Options = {}): unknown {
  return repairAll({ properties: { a: schema } }, { a }, options)?.a
}

function repairAll (
  schema: object, args: object, { refusedPlaces, ...options }: Options = {}
): { readonly [name: string]: unknown } | undefined {
  const before = JSON.stringify(args)
  const repaired = createRepair({
    mayRepairBooleans: true, fixedPlaces: new Set(), ...options, schema: { type: 'object', ...schema }
  })(args, refusedPlaces && new Set(refusedPlaces))
  t.equal(JSON.stringify(args), before, 'what came is not changed')
  return repaired?.value
}

const integer = { type: 'integer' }
const integers = { type: 'array', items: integer }

t.test('reads a text where the schema takes another type, and no text', async (t) => {
  for (const [schema, text, value] of [
    [integer, '5', 5],
    [integer, ' \n5\t', 5],
    [{ type: 'number' }, '-0.5e3', -500],
    [{ type: ['integer', 'null'] }, '5', 5],
    [{ enum: [1, 2] }, '2', 2],
    [{ const: 7 }, '7', 7],
    [{ type: 'boolean' }, 'true', true],
    [{ type: 'boolean' }, 'false', false],
    [integers, '[1]', [1]],
    [{ type: 'object' }, '{"b":"1"}', { b: '1' }],
    [{ anyOf: [integer, { type: 'null' }] }, '5', 5],
    [{ allOf: [{ minimum: 1 }, integer] }, '5', 5],
    [{ oneOf: [integer, integers] }, '[5]', [5]],
    [{ if: { minimum: 3 }, then: integer, else: { type: 'number' } }, '5', 5],
    // The check refuses it then, with a better sentence.
    [integer, '5.5', 5.5]
  ] as const) t.strictSame(repair(schema, text), value, JSON.stringify([schema, text]))
})

t.test('leaves a text that a branch of the schema may take', async (t) => {
  for (const [schema, text] of [
    [true, '5'],
    [{}, '5'],
    [{ description: 'x' }, '5'],
    [{ type: 'string' }, '5'],
    [{ type: ['string', 'integer'] }, '5'],
    [{ enum: ['5', 5] }, '5'],
    [{ anyOf: [integer, { type: 'string', pattern: '^x$' }] }, '5'],
    [{ oneOf: [integers, { minLength: 9 }] }, '[5]'],
    [{ not: { type: 'string' } }, '5'],
    [{ if: { type: 'integer' }, then: integer }, '5'],
    [{ $ref: '#/$defs/none' }, '5'],
    [{ $ref: 'other' }, '5'],
    [{ $ref: '#/%' }, '5']
  ] as const) t.equal(repair(schema, text), undefined, JSON.stringify([schema, text]))
  const inBranches = { oneOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: integer } }] }
  t.equal(repairAll(inBranches, { a: '5' }), undefined, 'of the whole')
})

t.test('reads JSON exactly', async (t) => {
  const any = { type: ['number', 'boolean', 'array', 'object'] }
  for (const text of [
    '', ' ', '05', '+5', '5.', '.5', '0x5', '1_000', '5 apples', 'NaN', 'Infinity', 'True', "[1]'", '[1,]',
    "{'a':1}", '{a:1}', '[1]\u00a0', '\ufeff[1]', '// x\n[1]', '"5"', 'null', '1e999', '[1e999]'
  ]) t.equal(repair(any, text), undefined, JSON.stringify(text))
})

t.test('keeps all digits of a number', async (t) => {
  const any = { type: ['number', 'array', 'object'] }
  for (const text of [
    '12345678901234567890', '9007199254740993', '0.1000000000000000055511151231257827', '1e-400', '1e400',
    '[12345678901234567890]', '{"id":[{"id":9007199254740993}]}', '-12345678901234567890'
  ]) t.equal(repair(any, text), undefined, text)
  for (const text of [
    '9007199254740991', '-9007199254740991', '0.1', '1.25e10', '1e21', '123456789012345', '1e-7',
    '["12345678901234567890"]', '{"12345678901234567890":1}', '["\\"12345678901234567890"]'
  ]) t.strictSame(repair(any, text), JSON.parse(text), text)
  t.test('in linear time', async (t) => {
    for (const text of [
      `1${'0'.repeat(500_000)}1`, `[${'1e5,'.repeat(100_000)}1]`, `["${'\\"'.repeat(200_000)}",1e5]`,
      '['.repeat(500_000), `{"a":"${'x'.repeat(500_000)}`
    ]) {
      const before = process.cpuUsage()
      repair(any, text)
      const { user } = process.cpuUsage(before)
      t.ok(user < 150_000, `${user} µs`)
    }
  })
})

t.test('takes no key from a text that a body may not have, and no structure', async (t) => {
  const any = { type: ['array', 'object'] }
  for (const text of [
    '{"__proto__":{"a":1}}', '[{"b":{"__proto__":null}}]', '{"\\u005f_proto__":1}',
    '{"constructor":{"prototype":{}}}', `${'['.repeat(127)}${']'.repeat(127)}`
  ]) t.equal(repair(any, text), undefined, text)
  for (const text of [
    '["__proto__"]', '["\\"__proto__\\":"]', '{"constructor":1}', '["\\u00e9"]',
    `${'['.repeat(125)}${']'.repeat(125)}`
  ]) t.strictSame(repair(any, text), JSON.parse(text), text)
  const heavy = (count: number, name = 'k') => JSON.stringify(Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${name}${index}`, 1])
  ))
  t.ok(repair(any, heavy(5000)))
  t.equal(repair(any, heavy(8000)), undefined, 'a text may weigh as much as a body')
  const list = Array.from({ length: 30 }, (_, index) => heavy(500, `k${index}_`))
  t.equal(repair({ items: any }, list), undefined, 'all texts together')
})

t.test('goes on in members, items and texts', async (t) => {
  const schema = {
    properties: {
      list: { type: 'array', prefixItems: [{ type: 'string' }], items: integer },
      tuple: { type: 'array', items: [{ type: 'string' }, integer], additionalItems: integer },
      byName: {
        type: 'object', patternProperties: { '^n_': integer }, additionalProperties: { type: 'boolean' }
      },
      tree: { $ref: '#/$defs/tree' }
    },
    $defs: {
      tree: {
        type: 'object', properties: { n: integer, 'a/b': { type: 'array', items: { $ref: '#/$defs/tree' } } }
      }
    }
  }
  t.strictSame(repairAll(schema, {
    list: ['1', '2', 3],
    tuple: ['1', '2', '3'],
    byName: { n_a: '1', b: 'true' },
    tree: { n: '1', 'a/b': '[{"n":"2"},"{\\"n\\":3}"]' }
  }), {
    list: ['1', 2, 3],
    tuple: ['1', 2, 3],
    byName: { n_a: 1, b: true },
    tree: { n: 1, 'a/b': [{ n: 2 }, { n: 3 }] }
  })
  t.strictSame(repairAll(schema, { tree: '{"n":"2"}' }), { tree: { n: 2 } }, 'a text in a text')
  t.strictSame(
    repairAll(schema, { tree: JSON.stringify({ 'a/b': JSON.stringify([{ n: '3' }]) }) }),
    { tree: { 'a/b': [{ n: '3' }] } }, 'a text in a text in a text stays'
  )
})

t.test('leaves out null for an optional argument that may not be null', async (t) => {
  const schema = {
    properties: {
      a: { type: 'string' },
      b: { type: ['string', 'null'] },
      c: { type: 'string' },
      d: {},
      e: { enum: ['x', null] },
      f: { type: 'object', properties: { g: integer } },
      h: { type: 'string', nullable: true }
    },
    required: ['c']
  }
  const kept = { b: null, c: null, d: null, e: null, h: null }
  t.equal(repairAll(schema, kept), undefined)
  t.strictSame(repairAll(schema, { a: null, ...kept, f: { g: null } }), { ...kept, f: {} })
  t.equal(
    repairAll({ additionalProperties: integer }, { a: null }), undefined, 'a name that the schema lacks'
  )
  t.strictSame(
    repairAll({ ...schema, anyOf: [{ required: ['a'] }, { required: ['f'] }] }, { a: null }), undefined,
    'what a branch requires'
  )
  t.equal(repair({ items: integer }, [null]), undefined, 'an item')
})

t.test('leaves what it is told to leave', async (t) => {
  t.equal(repair({ type: 'boolean' }, 'true', { mayRepairBooleans: false }), undefined)
  t.strictSame(
    repair({ type: 'array', items: { type: 'boolean' } }, '[true,"true"]', { mayRepairBooleans: false }),
    [true, 'true'], 'a text has booleans of its own'
  )
  t.equal(repair(integer, '5', { fixedPlaces: new Set(['a']) }), undefined)
  t.equal(repair(integer, '5', { refusedPlaces: ['b', 'a/0'] }), undefined, 'a library accepts it')
  t.equal(repair(integer, '5', { refusedPlaces: ['a'] }), 5)
  t.strictSame(repair(integers, '["5"]', { refusedPlaces: ['a'] }), [5])
})

t.test('tells the first places, and no more of a name than a part', async (t) => {
  const places = (schema: object, args: object) => createRepair({
    schema: { type: 'object', ...schema }, mayRepairBooleans: false, fixedPlaces: new Set()
  })(args)?.places
  const both = { properties: { a: integers, b: integer } }
  t.strictSame(places(both, { a: ['1', 2, '3'], b: null }), ['a/0', 'a/2', 'b'])
  t.equal(places({ properties: { a: integers } }, { a: Array(100).fill('1') })?.length, 8)
  t.ok(String(places({ additionalProperties: integer }, { ['x'.repeat(1000)]: '1' })).length <= 201)
})

t.test('ends soon, whatever the schema and the value are', async (t) => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ $ref: `#/$defs/${name}` }))
  const tree = {
    $defs: {
      a: { anyOf: [b, a, { allOf: [b] }] },
      b: { oneOf: [c, { properties: { x: a }, additionalProperties: false }] },
      c: { type: 'object', additionalProperties: { anyOf: [b, a, integer] } }
    }
  }
  const ranges = Array.from({ length: 400 }, (_, minimum) => {
    return { type: 'array', items: { ...integer, minimum } }
  })
  let deep: unknown = '5'
  for (let i = 0; i < 100; i++) deep = { x: deep }
  for (const [schema, value] of [
    [{ ...tree, properties: { a } }, deep],
    [{ properties: { a: { anyOf: ranges } } }, Array(10_000).fill('5')],
    [{ properties: { a: integers } }, Array(200_000).fill('5')],
    [{ properties: { a: integers } }, JSON.stringify(Array(20_000).fill('5'))],
    [{ properties: { a: { type: 'object' } } }, JSON.stringify({ x: 'y'.repeat(1_000_000) })],
    [{ properties: { a: { items: { type: 'object' } } } }, Array(20_000).fill('{"a":{"b":[]}}')]
  ] as const) {
    const before = process.cpuUsage()
    repairAll(schema, { a: value })
    const { user } = process.cpuUsage(before)
    t.comment(`${user} µs`)
    t.ok(user < 150_000, `${user} µs`)
  }
})

/** Schemas and values of two levels, which often fit each other. */
const types = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object')
const keys = fc.constantFrom('a', 'b')
const scalars = fc.constantFrom(
  '5', '[1]', 'true', '{"a":1}', 'null', 'x', '["1"]', '{"a":"1","b":null}', 5, true, false, null
)
const containers = (part: fc.Arbitrary<unknown>) => fc.oneof(
  part, fc.array(part, { maxLength: 2 }), fc.dictionary(keys, part, { maxKeys: 2 })
)
const values = containers(containers(scalars))
const around = (part: fc.Arbitrary<unknown>) => {
  const branches = fc.array(part, { minLength: 1, maxLength: 2 })
  return fc.oneof(
    part,
    fc.record({ type: types, enum: fc.uniqueArray(scalars, { minLength: 1 }) }, { requiredKeys: [] }),
    fc.record({
      type: fc.uniqueArray(types, { minLength: 1, maxLength: 3 }),
      properties: fc.dictionary(keys, part, { maxKeys: 2 }),
      required: fc.uniqueArray(keys, { maxLength: 1 }),
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), part, { maxKeys: 1 }),
      additionalProperties: part,
      dependentSchemas: fc.dictionary(keys, part, { maxKeys: 1 }),
      unevaluatedProperties: part
    }, { requiredKeys: [] }),
    fc.record({ prefixItems: branches, items: part, contains: part }, { requiredKeys: [] }),
    fc.record({ anyOf: branches, oneOf: branches, allOf: branches, not: part }, { requiredKeys: [] }),
    fc.record({ if: part, then: part, else: part }, { requiredKeys: ['if'] })
  )
}
const leaves = fc.oneof(
  fc.constantFrom({ $ref: '#' }, { $ref: '#/$defs/part' }, {}, true, false), fc.record({ type: types })
)
const schemas = around(around(leaves))

t.test('never changes arguments that the schema accepts', async (t) => {
  const { compile } = createSchemaCompiler({ useDefaults: false })
  const counts = { accepted: 0, repaired: 0, helped: 0 }
  const calls = fc.array(fc.dictionary(keys, values, { maxKeys: 2 }), { minLength: 30, maxLength: 30 })
  fc.assert(fc.property(schemas, schemas, calls, (a, part, all) => {
    const schema = { type: 'object', properties: { a, b: part }, $defs: { part } }
    const check = compile(schema)
    const repairCall = createRepair({ schema, mayRepairBooleans: true, fixedPlaces: new Set() })
    for (const value of all) {
      const repaired = repairCall(value)
      if (check(value).ok) {
        counts.accepted++
        if (repaired !== undefined) return false
      } else if (repaired !== undefined) {
        counts.repaired++
        if (check(repaired.value).ok) counts.helped++
      }
    }
    return true
  }), { numRuns: 200 })
  t.comment(JSON.stringify(counts))
  for (const count of Object.values(counts)) t.ok(count > 5, 'the claim is tested')
})
