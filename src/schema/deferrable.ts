// Finds schemas whose compilation may wait for the first call. Compiling a schema takes a millisecond,
// checking it against its meta-schema takes microseconds. A schema that holds only the keywords below always
// compiles once the meta-schema accepts it. A schema with any other keyword, such as a pattern or a
// reference, is compiled at load.

const ANNOTATIONS = [
  '$schema', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly',
  'x-mcp-header'
]
const ASSERTIONS = [
  'type', 'const', 'required', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength',
  'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'
]
const safeKeywords = new Set([...ANNOTATIONS, ...ASSERTIONS])

/** Whether the schema always compiles. Its meta-schema must have accepted it. */
export function isDeferrable (schema: unknown): boolean {
  if (typeof schema === 'boolean') return true
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  return Object.entries(schema).every(([keyword, value]) => {
    switch (keyword) {
      case 'properties':
        return typeof value === 'object' && value !== null && Object.values(value).every(isDeferrable)
      case 'items':
      case 'additionalProperties': return isDeferrable(value)
      // The meta-schema of 2020-12 accepts an empty `enum`, and the compiler does not.
      case 'enum': return Array.isArray(value) && value.length > 0
      default: return safeKeywords.has(keyword)
    }
  })
}
