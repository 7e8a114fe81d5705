// The JSON Schema dialects that a schema may declare in `$schema`. 2020-12 is the default.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#json-schema-usage

export type Dialect = '2020-12' | 'draft-07'

const dialects = new Map<unknown, Dialect>([
  [undefined, '2020-12'],
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07']
])

/** `undefined` when the dialect is not supported. */
export function dialectOf (schema: { readonly [keyword: string]: unknown }): Dialect | undefined {
  const { $schema } = schema
  return dialects.get(typeof $schema === 'string' ? $schema.replace(/#$/, '') : $schema)
}
