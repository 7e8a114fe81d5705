import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'
import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'
import { isDeferrable } from '../../../src/platform/schema/deferrable.ts'
import { dialectOf } from '../../../src/platform/schema/ajv-instances.ts'
import { createSchemaCompiler, SchemaError } from '../../../src/platform/schema/json-schema.ts'
import { createParamsReader } from '../../../src/platform/schema/reader.ts'
import { Type } from '../../../src/platform/schema/type.ts'

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'
const DRAFT_07_NAMES = [
  'http://json-schema.org/draft-07/schema', DRAFT_07, 'https://json-schema.org/draft-07/schema'
]

function compile (schema: JsonSchema) {
  return createSchemaCompiler({ useDefaults: false }).compile(schema)
}

/** The problems of a schema. Empty when the schema is usable. */
function problemsOf (schema: JsonSchema): readonly string[] {
  try {
    compile(schema)
    return []
  } catch (error) {
    if (error instanceof SchemaError) return error.problems
    throw error
  }
}

t.test('the dialect is the declared one, or 2020-12 (72)', async (t) => {
  t.equal(dialectOf({}), '2020-12')
  const current = 'https://json-schema.org/draft/2020-12/schema'
  for (const $schema of [current, `${current}#`]) t.equal(dialectOf({ $schema }), '2020-12')
  for (const $schema of DRAFT_07_NAMES) t.equal(dialectOf({ $schema }), 'draft-07')
})

t.test('properties may have names that every object inherits', (t) => {
  const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty']
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const optional = compile({ type: 'object', properties, additionalProperties: false })
  t.match(optional({}), { ok: true })
  t.match(optional({ toString: 'x' }), { ok: true })
  t.match(optional({ toString: 5 }), { ok: false, problems: [/toString: must be string/] })
  const required = compile({ type: 'object', properties, required: ['toString'] })
  t.match(required({}), { ok: false, problems: [/toString: is required/] })
  t.match(required({ toString: 'x' }), { ok: true })
  t.end()
})

t.test('refuses any other dialect, and names it and the supported ones (73)', async (t) => {
  for (const $schema of [
    'http://json-schema.org/draft-04/schema#', 'https://json-schema.org/draft/2019-09/schema',
    '', 'toString', 7, null
  ]) {
    t.equal(dialectOf({ $schema }), undefined)
    const quoted = JSON.stringify($schema).replace(/[.$]/g, '\\$&')
    const problem = new RegExp(`^/\\$schema ${quoted} is not supported; use JSON Schema 2020-12`)
    t.match(problemsOf({ $schema, type: 'object' }), [problem])
  }
})

t.test('checks by the rules of 2020-12 (72)', async (t) => {
  const check = compile({ type: 'array', prefixItems: [{ type: 'string' }], items: false })
  t.ok(check(['a']).ok)
  t.notOk(check([1]).ok)
  t.notOk(check(['a', 'b']).ok)
  const closed = compile({ type: 'object', allOf: [{ properties: { a: {} } }], unevaluatedProperties: false })
  t.ok(closed({ a: 1 }).ok)
  t.notOk(closed({ b: 1 }).ok)
})

t.test('checks by the rules of draft-07, under each of its names (72)', async (t) => {
  for (const $schema of DRAFT_07_NAMES) {
    const check = compile({ $schema, type: 'array', items: [{ type: 'string' }], additionalItems: false })
    t.ok(check(['a']).ok)
    t.notOk(check([1]).ok)
    t.notOk(check(['a', 'b']).ok)
    const dependent = compile({ $schema, dependencies: { a: ['b'] } })
    t.notOk(dependent({ a: 1 }).ok)
  }
})

t.test('refuses a schema that its dialect does not allow, and names the place (115)', async (t) => {
  t.strictSame(problemsOf({ properties: { a: { type: 'objekt' } } }), [
    '/properties/a/type must be one of array, boolean, integer, null, number, object, string, got "objekt"'
  ])
  t.match(problemsOf({ properties: { a: { minimum: 'low' } } }), [/^\/properties\/a\/minimum must be number/])
  t.match(problemsOf({ required: 'a' }), [/^\/required must be array/])
})

t.test('refuses at load a schema that does not compile (115)', async (t) => {
  for (const schema of [
    { pattern: '(' },
    { properties: { a: { pattern: '[' } } },
    { patternProperties: { '(': {} } },
    { $ref: '#/$defs/nowhere' },
    { enum: [] },
    { properties: { a: { items: { enum: [] } } } }
  ]) t.not(problemsOf(schema).length, 0, JSON.stringify(schema))
})

t.test('checks the common formats', async (t) => {
  const check = compile({ type: 'string', format: 'date-time' })
  t.ok(check('2026-07-28T00:00:00Z').ok)
  t.notOk(check('tomorrow').ok)
})

t.test('treats an unknown format as an annotation', async (t) => {
  t.ok(compile({ type: 'string', format: 'isbn' })('x').ok)
})

t.test('follows references inside the schema, also recursive ones', async (t) => {
  const tree = {
    type: 'object', properties: { child: { $ref: '#/$defs/tree' } }, additionalProperties: false
  }
  const check = compile({ $ref: '#/$defs/tree', $defs: { tree } })
  t.ok(check({ child: { child: {} } }).ok)
  t.notOk(check({ child: { child: 1 } }).ok)
})

t.test('"#" refers to the schema itself, in both dialects, with and without an $id', async (t) => {
  for (const extra of [
    {}, { $schema: 'http://json-schema.org/draft-07/schema#' }, { $id: 'https://shop.example/tree' }
  ]) {
    const check = compile({
      ...extra, type: 'object', properties: { child: { $ref: '#' } }, additionalProperties: false
    })
    t.ok(check({ child: { child: {} } }).ok)
    t.notOk(check({ child: { child: 1 } }).ok)
  }
})

t.test('follows a reference to an embedded $id (75)', async (t) => {
  const check = compile({
    properties: { a: { $ref: 'https://shop.example/sku' } },
    $defs: { sku: { $id: 'https://shop.example/sku', type: 'string' } }
  })
  t.ok(check({ a: 'x' }).ok)
  t.notOk(check({ a: 1 }).ok)
})

t.test('accepts two schemas with the same $id and different rules', async (t) => {
  const { compile } = createSchemaCompiler({ useDefaults: false })
  const string = compile({ $id: 'https://shop.example/a', type: 'string' })
  const number = compile({ $id: 'https://shop.example/a', type: 'number' })
  t.ok(string('x').ok && number(1).ok)
  t.notOk(string(1).ok || number('x').ok)
})

t.test('accepts unknown annotations (114)', async (t) => {
  const region = { type: 'string', 'x-mcp-header': 'Region', 'x-own': [] }
  t.same(problemsOf({ type: 'object', properties: { region } }), [])
})

t.test('fills in defaults only when the option says so', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      size: { type: 'number', default: 10 },
      deep: { type: 'object', properties: { a: { default: 1 } } }
    },
    required: ['size']
  }
  t.same(createSchemaCompiler({ useDefaults: true }).compile(schema)({ deep: {} }), {
    ok: true, value: { size: 10, deep: { a: 1 } }
  })
  t.notOk(compile(schema)({}).ok)
  const value = { size: 1 }
  t.same(compile(schema)(value), { ok: true, value: { size: 1 } })
})

t.test('shares one check between equal schemas', async (t) => {
  const { compile } = createSchemaCompiler({ useDefaults: false })
  t.equal(compile({ type: 'string', maxLength: 3 }), compile({ type: 'string', maxLength: 3 }))
  t.not(compile({ type: 'string', maxLength: 3 }), compile({ type: 'string', maxLength: 4 }))
})

t.test('keeps a check while each load of a catalog asks for it', async (t) => {
  const { compile, forgetUnused } = createSchemaCompiler({ useDefaults: false })
  const short = compile({ type: 'string', maxLength: 3 })
  for (let load = 0; load < 3; load++) {
    forgetUnused()
    t.equal(compile({ type: 'string', maxLength: 3 }), short)
  }
  forgetUnused()
  forgetUnused()
  t.not(compile({ type: 'string', maxLength: 3 }), short, 'a load did not ask for it')
  t.ok(short('abc').ok)
})

t.test('compiles thousands of schemas, and each keeps its own rules', async (t) => {
  const { compile, forgetUnused } = createSchemaCompiler({ useDefaults: false })
  const pattern = (length: number) => compile({ type: 'string', pattern: `^a{${length}}$` })
  const first = pattern(1)
  for (let turn = 2; turn < 2002; turn++) {
    if (turn % 500 === 0) forgetUnused()
    compile({ type: 'string', maxLength: turn })
  }
  t.ok(first('a').ok && pattern(2)('aa').ok)
  t.notOk(first('aa').ok || pattern(2)('a').ok)
})

t.test('refuses a value that is nested too deeply, and names this problem', async (t) => {
  const deep: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000))
  const tree = { $ref: '#/$defs/tree', $defs: { tree: { type: 'array', items: { $ref: '#/$defs/tree' } } } }
  t.same(compile(tree)(deep), { ok: false, problems: ['is nested too deeply'] })
  t.notOk(compile({ type: 'string' })(deep).ok)
})

t.test('refuses a deep value that has a problem at its root', async (t) => {
  const tree: unknown = JSON.parse('['.repeat(8000) + ']'.repeat(8000))
  const check = compile({
    required: ['x'],
    properties: { tree: { $ref: '#/$defs/t' } },
    $defs: { t: { type: 'array', items: { $ref: '#/$defs/t' } } }
  })
  t.notOk(check({ tree }).ok)
})

t.test('refuses values that are not JSON without an error', async (t) => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  for (const value of [undefined, 1n, cycle, () => 1, Symbol('x'), { a: 1n }]) {
    t.notOk(compile({ type: 'string' })(value).ok)
  }
})

t.test('reads params, and throws invalid params that name the wrong field (123)', async (t) => {
  const readParams = createParamsReader(Type.Object({ name: Type.String() }))
  t.same(readParams({ name: 'a', _meta: {} }), { name: 'a', _meta: {} })
  t.throws(() => readParams({}), {
    code: -32602, httpStatus: 200, message: 'Invalid params: name: is required, but missing'
  })
  t.throws(() => readParams(undefined), { code: -32602 })
})

// Schemas of all keywords whose compilation may wait. One in twenty values of a keyword is invalid.
function mostly<T> (valid: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 19, arbitrary: valid }, { weight: 1, arbitrary: fc.jsonValue() })
}

const typeName = fc.constantFrom('object', 'array', 'string', 'integer', 'number', 'boolean', 'null')
const bound = mostly(fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })))
const count = mostly(fc.nat())
const keywords = {
  type: mostly(fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 }))),
  enum: mostly(fc.array(fc.jsonValue(), { maxLength: 3 })),
  const: fc.jsonValue(),
  required: mostly(fc.uniqueArray(fc.string(), { maxLength: 3 })),
  minimum: bound,
  maximum: bound,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  uniqueItems: mostly(fc.boolean()),
  minProperties: count,
  maxProperties: count,
  title: mostly(fc.string()),
  description: mostly(fc.string()),
  default: fc.jsonValue(),
  examples: mostly(fc.array(fc.jsonValue(), { maxLength: 2 })),
  deprecated: mostly(fc.boolean()),
  readOnly: mostly(fc.boolean()),
  $comment: mostly(fc.string()),
  'x-mcp-header': fc.string()
}
const propertyName = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', "a'b"))
const { schema: generated } = fc.letrec<{ schema: JsonSchema, subschema: JsonSchema | boolean }>((tie) => ({
  subschema: fc.oneof({ depthSize: 'small' }, fc.boolean(), tie('schema')),
  schema: fc.uniqueArray(fc.oneof(
    ...Object.entries(keywords).map(([keyword, value]) => fc.tuple(fc.constant(keyword), value)),
    fc.tuple(fc.constant('properties'), fc.dictionary(propertyName, tie('subschema'), { maxKeys: 3 })),
    fc.tuple(fc.constantFrom('items', 'additionalProperties'), tie('subschema'))
  ), { maxLength: 5, selector: ([keyword]) => keyword }).map((entries) => Object.fromEntries(entries))
}))

for (const [dialect, $schema] of [['2020-12', undefined], ['draft-07', DRAFT_07]]) {
  t.test(`the meta-schema accepts every schema whose compilation was deferred, and it compiles (${dialect}, 115)`, async (t) => {
    const metaSchema = $schema === undefined ? new Ajv2020({ logger: false }) : new Ajv({ logger: false })
    const compilers = [false, true].map((useDefaults) => createSchemaCompiler({ useDefaults }))
    let deferred = 0
    const anyCompiler = fc.constantFrom(...compilers)
    fc.assert(fc.property(generated, fc.jsonValue(), anyCompiler, (given, value, compiler) => {
      const schema = $schema === undefined ? given : { ...given, $schema }
      if (!isDeferrable(schema)) return
      t.ok(metaSchema.validateSchema(schema), JSON.stringify(schema))
      compiler.compile(schema)(value)
      deferred += 1
    }), { numRuns: 300 })
    t.ok(deferred > 100, `${deferred} schemas were deferred`)
  })
}

t.test('defers no schema with a pattern, a reference, an unknown keyword or an invalid value', async (t) => {
  const refused = [
    { pattern: 'a' }, { $ref: '#' }, { properties: { a: { format: 'date' } } }, { items: { anyOf: [] } },
    { unknown: 1 }, { items: [{}] }, { type: 'text' }, { type: [] }, { required: ['a', 'a'] },
    { minLength: -1 }, { maxItems: 1.5 }, { minimum: '1' }, { title: 1 }, { uniqueItems: 1 }, { enum: [] },
    { enum: [1, 1] }, { enum: [{}] },
    { examples: {} }, { default: undefined }, { properties: { a: { $schema: 1 } } }, null, 'x'
  ]
  for (const schema of refused) {
    t.notOk(isDeferrable(schema), JSON.stringify(schema))
  }
  t.ok(isDeferrable({
    type: 'object', properties: { a: { type: 'array', items: { enum: [1] } } }, additionalProperties: false
  }))
})
