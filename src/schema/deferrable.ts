// Compiling a schema takes a millisecond; checking it against its meta-schema takes microseconds.
// A schema made only of these keywords cannot fail to compile once the meta-schema accepts it,
// so its compilation may wait for the first call. Any other keyword (a pattern, a reference) is compiled at load.

const ANNOTATIONS = ['$schema', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'x-mcp-header']
const ASSERTIONS = ['type', 'const', 'required', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength',
  'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties']
const plain = new Set([...ANNOTATIONS, ...ASSERTIONS])

/** Whether compilation can no longer fail. `schema` has passed its meta-schema. */
export function isDeferrable (schema: unknown): boolean {
  if (typeof schema === 'boolean') return true
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  return Object.entries(schema).every(([keyword, value]) => {
    switch (keyword) {
      case 'properties': return typeof value === 'object' && value !== null && Object.values(value).every(isDeferrable)
      case 'items':
      case 'additionalProperties': return isDeferrable(value)
      // The one assertion that the meta-schema of 2020-12 accepts and the compiler does not.
      case 'enum': return Array.isArray(value) && value.length > 0
      default: return plain.has(keyword)
    }
  })
}
