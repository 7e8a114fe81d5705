import t from 'tap'
import {
  findMirroredParams, mirroredFields
} from '../../../src/catalog/compiled/definitions/mirrored-params.ts'
import type { JsonSchema } from '../../../src/platform/protocol/primitives.ts'

function find (schema: JsonSchema) {
  const problems: string[] = []
  const params = findMirroredParams(schema, (place, rule) => problems.push(`${place} ${rule}`))
  return { params, problems }
}

const annotated = (type: string, header: unknown = 'Region') => ({ type, 'x-mcp-header': header })

t.test('finds annotated properties, nested ones too (40)', async (t) => {
  const { params, problems } = find({
    type: 'object',
    properties: {
      region: annotated('string'),
      plain: { type: 'string' },
      target: {
        type: 'object',
        properties: {
          zone: annotated('integer', 'Zone'),
          'x/y': { type: 'object', properties: { dry: annotated('boolean', 'Dry-Run') } }
        }
      }
    }
  })
  t.same(problems, [])
  t.same(params, [
    { header: 'Mcp-Param-Region', path: ['region'] },
    { header: 'Mcp-Param-Zone', path: ['target', 'zone'] },
    { header: 'Mcp-Param-Dry-Run', path: ['target', 'x/y', 'dry'] }
  ])
})

t.test('a property may have the name of a keyword', async (t) => {
  const { params, problems } = find({
    properties: {
      properties: { type: 'object', properties: { items: annotated('string') } },
      enum: annotated('string', 'Enum')
    }
  })
  t.same(problems, [])
  t.same(params.map(({ path }) => path), [['properties', 'items'], ['enum']])
  t.same(find({ properties: { 'x-mcp-header': { type: 'string' } } }), { params: [], problems: [] })
})

t.test('does not read data as a schema', async (t) => {
  const data = { 'x-mcp-header': '' }
  t.same(find({ properties: { a: { const: data, enum: [data], default: data, examples: [data] } } }), {
    params: [], problems: []
  })
})

t.test('refuses a name that is not an HTTP token (116)', async (t) => {
  for (const name of ['', ' ', 'a b', 'a:b', 'a/b', 'a(b)', 'a\r\nb', 'é', 'a\0', 7, null, true, {}]) {
    t.match(
      find({ properties: { a: annotated('string', name) } }),
      { params: [], problems: [/^\/properties\/a\/x-mcp-header must be an HTTP token/] }, JSON.stringify(name)
    )
  }
  t.same(find({ properties: { a: annotated('string', "!#$%&'*+-.^_`|~0aZ") } }).problems, [])
})

t.test('refuses the same name twice, in any case (117)', async (t) => {
  const { problems } = find({
    properties: {
      a: annotated('string', 'Region'),
      b: { type: 'object', properties: { c: annotated('string', 'REGION') } }
    }
  })
  t.match(problems, [
    /^\/properties\/b\/properties\/c\/x-mcp-header names the header Mcp-Param-REGION a second time/
  ])
})

t.test('refuses any type but string, integer and boolean (118)', async (t) => {
  for (const type of ['number', 'array', 'object', 'null', ['string', 'null'], undefined]) {
    t.match(
      find({ properties: { a: { type, 'x-mcp-header': 'A' } } }).problems,
      [/type string, integer or boolean/], String(type)
    )
  }
})

t.test('refuses an integer that a float cannot hold (118)', async (t) => {
  for (const bound of [{ maximum: 2 ** 53 }, { minimum: -(2 ** 53) }, { exclusiveMaximum: 1e300 }]) {
    t.match(find({ properties: { a: { ...annotated('integer'), ...bound } } }).problems, [
      /within ±\(2\^53 − 1\)/
    ])
  }
  t.same(
    find({ properties: { a: { ...annotated('integer'), minimum: 0, maximum: 2 ** 53 - 1 } } }).problems, []
  )
})

const elsewhere: ReadonlyArray<readonly [place: string, schema: JsonSchema]> = [
  ['the root', annotated('string')],
  ['items', { properties: { a: { type: 'array', items: annotated('string') } } }],
  ['properties below items', { items: { properties: { a: annotated('string') } } }],
  ['oneOf', { oneOf: [{ properties: { a: annotated('string') } }] }],
  ['anyOf', { properties: { a: { anyOf: [annotated('string')] } } }],
  ['allOf', { allOf: [{ properties: { a: annotated('string') } }] }],
  ['not', { not: { properties: { a: annotated('string') } } }],
  ['then', { if: {}, then: { properties: { a: annotated('string') } } }],
  ['additionalProperties', { additionalProperties: annotated('string') }],
  ['patternProperties', { patternProperties: { a: annotated('string') } }],
  ['$defs', { $defs: { a: annotated('string') }, properties: { b: { $ref: '#/$defs/a' } } }]
]

for (const [place, schema] of elsewhere) {
  t.test(`refuses an annotation under ${place}: only "properties" may lead to it (119, 120)`, async (t) => {
    t.match(find(schema), { params: [], problems: [/reached through "properties" alone/] })
  })
}

const params = find({
  properties: {
    region: annotated('string'),
    count: annotated('integer', 'Count'),
    dry: annotated('boolean', 'Dry'),
    to: { properties: { zone: annotated('string', 'Zone') } }
  }
}).params

t.test('reads the value at the path of the parameter (37, 40)', async (t) => {
  t.same(mirroredFields(params, { region: 'eu', count: 42, dry: false, zone: 'flat', to: { zone: 'a' } }), [
    { header: 'Mcp-Param-Region', value: 'eu' },
    { header: 'Mcp-Param-Count', value: 42 },
    { header: 'Mcp-Param-Dry', value: false },
    { header: 'Mcp-Param-Zone', value: 'a' }
  ])
})

t.test('expects no header when the argument is null or absent (38)', async (t) => {
  for (const args of [
    undefined, null, {}, { region: null, to: null }, { region: {}, to: 'x' }, { to: ['zone'] }, 'region',
    Object.create({ region: 'inherited' })
  ]) {
    t.same(mirroredFields(params, args).map(({ value }) => value), [
      undefined, undefined, undefined, undefined
    ])
  }
})
