// Schemas whose references are resolved: they accept what they accepted before.

import fc from 'fast-check'
import t, { type Test } from 'tap'
import { resolveReferences } from '../../../src/catalog/hosts/resolve-references.ts'
import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'

const { compile } = createSchemaCompiler({ useDefaults: false })
const resolve = (schema: JsonSchema): JsonSchema => JSON.parse(resolveReferences(JSON.stringify(schema)))

t.test('puts a part in the place of each reference, and leaves the definitions out', (t) => {
  t.strictSame(resolve({
    type: 'object',
    properties: { home: { $ref: '#/$defs/address' }, work: { $ref: '#/definitions/office' } },
    $defs: {
      address: { type: 'object', properties: { zip: { $ref: '#/$defs/zip' } } }, zip: { type: 'string' }
    },
    definitions: { office: { items: { $ref: '#/properties/home' } } }
  }), {
    type: 'object',
    properties: {
      home: { type: 'object', properties: { zip: { type: 'string' } } },
      work: { items: { type: 'object', properties: { zip: { type: 'string' } } } }
    }
  })
  t.end()
})

t.test('joins what stands beside a reference: the words of the use come first, and all rules hold', (t) => {
  const $defs = {
    text: { type: 'string', description: 'A text.', maxLength: 5 },
    closed: { type: 'object', properties: { a: true }, additionalProperties: false },
    any: true,
    none: false
  }
  const joined = (schema: JsonSchema) => resolve({ properties: { it: schema }, $defs }).properties
  t.strictSame(joined({ $ref: '#/$defs/text', description: 'A name.', default: 'x' }), {
    it: { type: 'string', description: 'A name.', maxLength: 5, default: 'x' }
  })
  t.strictSame(joined({ $ref: '#/$defs/text', type: 'string', minLength: 1 }), {
    it: { type: 'string', description: 'A text.', maxLength: 5, minLength: 1 }
  })
  t.strictSame(joined({ $ref: '#/$defs/text', maxLength: 3 }), { it: { maxLength: 3, allOf: [$defs.text] } })
  t.strictSame(joined({ $ref: '#/$defs/closed', properties: { b: true } }), {
    it: { properties: { b: true }, allOf: [$defs.closed] }
  }, 'properties beside additionalProperties would open what is closed')
  t.strictSame(joined({ $ref: '#/$defs/closed', allOf: [{ minProperties: 1 }] }), {
    it: { allOf: [{ minProperties: 1 }, $defs.closed] }
  })
  t.strictSame(joined({ $ref: '#/$defs/any', title: 'T' }), { it: { title: 'T' } })
  t.strictSame(joined({ $ref: '#/$defs/any' }), { it: true })
  t.strictSame(joined({ $ref: '#/$defs/none', title: 'T' }), { it: { title: 'T', allOf: [false] } })
  t.end()
})

t.test('reads pointers as RFC 6901 has them', (t) => {
  t.strictSame(resolve({
    properties: {
      a: { $ref: '#/$defs/a~1b~0c' },
      b: { $ref: '#/%24defs/%C3%A4%20' },
      c: { $ref: '#/allOf/0' },
      $ref: { $ref: '#/$defs/a~1b~0c' }
    },
    allOf: [{ maxProperties: 5 }],
    $defs: { 'a/b~c': { type: 'string' }, 'ä ': { type: 'number' } }
  }), {
    properties: {
      a: { type: 'string' }, b: { type: 'number' }, c: { maxProperties: 5 }, $ref: { type: 'string' }
    },
    allOf: [{ maxProperties: 5 }]
  })
  t.end()
})

t.test('keeps references that lead to a cycle, and then all definitions', (t) => {
  const $defs = {
    node: { properties: { next: { $ref: '#/$defs/node' }, name: { $ref: '#/$defs/name' } } },
    name: { type: 'string' },
    outer: { properties: { node: { $ref: '#/$defs/node' } } }
  }
  const first = { properties: { first: { $ref: '#/$defs/node' }, name: { $ref: '#/$defs/name' } } }
  t.strictSame(resolve({ ...first, $defs }), {
    properties: { first: { $ref: '#/$defs/node' }, name: { type: 'string' } }, $defs
  })
  const root = { type: 'object', properties: { children: { items: { $ref: '#' } } } }
  t.strictSame(resolve(root), root)
  const within = {
    properties: {
      a: { properties: { b: { $ref: '#/properties/c' } } }, c: { items: { $ref: '#/properties/a' } }
    }
  }
  t.strictSame(resolve(within), within)
  t.end()
})

t.test('leaves a schema as it is that names its parts, or mirrors the target of a reference', (t) => {
  const a = { $ref: '#/$defs/a' }
  for (const schema of [
    { properties: { a }, $defs: { a: { $anchor: 'here' } } },
    { properties: { a }, $defs: { a: { $id: 'https://a.example/a' } } },
    { properties: { a, b: { $dynamicRef: '#x' } }, $defs: { a: {} } },
    { $id: 'https://a.example/b', properties: { a, b: { $ref: 'https://a.example/b' } }, $defs: { a: {} } },
    { properties: { b: { $ref: '#here' } }, $defs: { b: { $id: '#here' } } },
    { properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { $ref: '#/properties/a' } } },
    { components: { b: a }, properties: { a, b: { $ref: '#/components/b' } }, $defs: { a: {} } },
    { properties: { a: { $ref: '#/nowhere' }, b: { $ref: '#/%' } } }
  ]) {
    const json = JSON.stringify(schema)
    t.equal(resolveReferences(json), json, json)
  }
  t.strictSame(
    resolve({ $id: 'https://a.example/b', properties: { a }, $defs: { a: { type: 'string' } } }),
    { $id: 'https://a.example/b', properties: { a: { type: 'string' } } }, 'the name of the whole'
  )
  t.end()
})

/** Each definition uses the next one twice. */
function doubling (count: number): JsonSchema {
  const names = Array.from({ length: count }, (_, index) => `d${index}`)
  const $defs = Object.fromEntries(names.map((name, index) => {
    const part = index + 1 === count ? { type: 'string' } : { $ref: `#/$defs/d${index + 1}` }
    return [name, { anyOf: [part, part] }]
  }))
  return { properties: { it: { $ref: '#/$defs/d0' } }, $defs }
}

/** The CPU time of a function, in milliseconds. */
function cpuOf (work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

t.test('stops at 16 KiB, and at 64 levels', (t) => {
  t.notMatch(resolveReferences(JSON.stringify(doubling(8))), '$ref')
  for (const count of [14, 30, 60, 1000]) {
    const json = JSON.stringify(doubling(count))
    const ms = cpuOf(() => t.equal(resolveReferences(json), json, `${count} definitions`))
    t.ok(ms < 100, `${ms} ms`)
  }
  const chain = Object.fromEntries(
    Array.from({ length: 1500 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }])
  )
  const it = { $ref: '#/$defs/d0' }
  const long = JSON.stringify({ properties: { it }, $defs: { ...chain, d1500: true } })
  t.equal(resolveReferences(long), long)
  const text = (length: number) => JSON.stringify({
    properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { pattern: 'ä'.repeat(length) } }
  })
  const most = (16_384 - '{"properties":{"a":{"pattern":""}}}'.length - 1) / 2
  t.equal(Buffer.byteLength(resolveReferences(text(most))), 16_383)
  t.equal(resolveReferences(text(most + 1)), text(most + 1))
  t.end()
})

const DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema', 'http://json-schema.org/draft-07/schema#'
]
const NAMES = ['a', 'b', 'a/b~']
const POINTERS = ['#/$defs/a', '#/$defs/b', '#/$defs/a~1b~0', '#/definitions/a', '#', '#/properties/a']

const { schema } = fc.letrec<{ schema: JsonSchema | boolean }>((tie) => {
  const part = tie('schema')
  const named = fc.dictionary(fc.constantFrom(...NAMES), part, { maxKeys: 2 })
  const parts = fc.array(part, { minLength: 1, maxLength: 2 })
  const keywords = fc.record({
    $ref: fc.constantFrom(...POINTERS),
    type: fc.constantFrom('object', 'array', 'string', 'integer'),
    description: fc.constantFrom('One.', 'Two.'),
    minimum: fc.integer({ min: 0, max: 2 }),
    maxLength: fc.integer({ min: 0, max: 2 }),
    required: fc.constantFrom(['a'], ['b']),
    properties: named,
    additionalProperties: part,
    unevaluatedProperties: fc.boolean(),
    items: part,
    prefixItems: parts,
    unevaluatedItems: fc.boolean(),
    contains: part,
    minContains: fc.integer({ min: 0, max: 1 }),
    anyOf: parts,
    oneOf: parts,
    allOf: parts,
    not: part,
    if: part,
    then: part,
    else: part,
    dependentSchemas: named
  }, { requiredKeys: [] })
  // Fewer keywords: most schemas with many accept nothing.
  const few = fc.tuple(keywords, fc.array(fc.nat(12), { maxLength: 4 })).map(([all, chosen]) => {
    const entries = Object.entries(all)
    return Object.fromEntries(entries.filter((_, index) => index === 0 || chosen.includes(index)))
  })
  return { schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), few) }
})

const whole = fc.record({
  properties: fc.record({ a: schema, b: schema }),
  $defs: fc.record({ a: schema, b: schema, 'a/b~': schema }),
  definitions: fc.record({ a: schema }),
  additionalProperties: schema
}, { requiredKeys: ['properties', '$defs', 'definitions'] })

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('', 'long', null, true), fc.integer({ min: 0, max: 3 }),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 2 })
  )
}))

const values = fc.array(value, { minLength: 10, maxLength: 20 })

const ENDLESS = /is nested too deeply|to be checked/

/** Whether the values are valid for both schemas alike. */
function countAlike (t: Test, json: string, result: string, items: readonly unknown[]): number {
  const [before, after] = [compile(JSON.parse(json)), compile(JSON.parse(result))]
  const accepted = items.filter((item) => {
    const verdict = before(item)
    const { ok } = verdict
    // A part that leads to itself, with no value between, is never done: it says nothing of the value.
    if (!ok && verdict.problems.some((problem) => ENDLESS.test(problem))) return false
    if (after(item).ok !== ok) t.fail(`${json} as ${result}: ${JSON.stringify(item)}`)
    return ok
  })
  return accepted.length
}

t.test('accepts the same values, in both dialects, and a second time changes nothing', (t) => {
  let [resolved, accepting] = [0, 0]
  for (const $schema of DIALECTS) {
    fc.assert(fc.property(whole, values, (keywords, items) => {
      const json = JSON.stringify({ $schema, ...keywords })
      const result = resolveReferences(json)
      t.equal(resolveReferences(result), result)
      if (result === json) return
      resolved++
      accepting += countAlike(t, json, result, items)
    }), { numRuns: 300 })
  }
  t.ok(resolved > 200 && accepting > 200, `${resolved} schemas, ${accepting} values`)
  t.end()
})

/** Each means something else beside some of the others. */
const INTERACTING = fc.subarray(Object.entries({
  properties: { a: { type: 'string' } },
  patternProperties: { '^b': true },
  additionalProperties: false,
  unevaluatedProperties: false,
  anyOf: [{ properties: { b: true }, required: ['b'] }, { maxProperties: 1 }],
  prefixItems: [true],
  items: { type: 'string' },
  unevaluatedItems: false,
  contains: { type: 'integer' },
  minContains: 0,
  if: { required: ['a'] },
  then: false,
  maxLength: 2,
  type: ['object', 'array', 'string']
}), { minLength: 1, maxLength: 3 }).map((entries): JsonSchema => Object.fromEntries(entries))

const ITEMS = [
  {}, { a: '' }, { a: 1 }, { b: 1 }, { a: '', b: 1 }, { a: '', c: 1 }, { c: 1 }, { b: 1, c: 1 }, [], [1],
  ['x'], [1, 'x'], ['x', 1], [1, 2], ['x', 'y'], [null], 'x', 'long', 3
]

t.test('accepts the same values where keywords meet that change each other', (t) => {
  let accepting = 0
  fc.assert(fc.property(INTERACTING, INTERACTING, fc.constantFrom(...DIALECTS), (beside, target, $schema) => {
    const json = JSON.stringify({ $schema, $ref: '#/$defs/it', ...beside, $defs: { it: target } })
    accepting += countAlike(t, json, resolveReferences(json), ITEMS)
  }), { numRuns: 700 })
  t.ok(accepting > 1000, `${accepting} values`)
  t.end()
})
