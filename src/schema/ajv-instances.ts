// Instances of ajv, with comparisons and patterns that take linear time and with the costs of checks. No
// other file imports ajv.

import { _, Ajv, type Options } from 'ajv'
import addFormats, { type FormatName } from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { COST, costOfText, spend } from './check-cost.ts'
import { replaceComparisons } from './json-equality.ts'
import { createLinearPattern, type LinearPattern } from './linear-pattern.ts'

function createPattern (source: string): LinearPattern {
  const pattern = createLinearPattern(source)
  return {
    toString: () => source,
    test (text) {
      spend(costOfText(text.length))
      return pattern.test(text)
    }
  }
}

export const OPTIONS: Options = {
  // Allows unknown keywords: `x-mcp-header` and other annotations of the author.
  strict: false,
  logger: false,
  addUsedSchema: false,
  // The inner `code` is for schemas that are compiled to a file. Ours are not.
  code: { optimize: false, regExp: Object.assign(createPattern, { code: 'createPattern' }) }
}

/** RegExp matches the service's own patterns fast too. RE2 takes 20 ms, 3 % of a start, to compile them. */
export const OWN_PATTERNS: Options = { code: { optimize: false } }

/**
 * The JSON Schema dialects that a schema may declare in `$schema`. 2020-12 is the default.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/index#json-schema-usage
 */
export type Dialect = '2020-12' | 'draft-07'

const dialects = new Map<unknown, Dialect>([
  [undefined, '2020-12'],
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07']
])

/** Returns `undefined` when the dialect is not supported. */
export function dialectOf (schema: { readonly [keyword: string]: unknown }): Dialect | undefined {
  const { $schema } = schema
  return dialects.get(typeof $schema === 'string' ? $schema.replace(/#$/, '') : $schema)
}

export type Instances = (dialect: Dialect) => Ajv

/** Makes the instance of a dialect when it is first used. */
export function createInstances (options: Options): Instances {
  const byDialect = new Map<Dialect, Ajv>()
  return (dialect) => {
    let ajv = byDialect.get(dialect)
    if (ajv === undefined) {
      ajv = dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options)
      addFormats.default(ajv)
      replaceComparisons(ajv)
      addCostKeyword(ajv)
      byDialect.set(dialect, ajv)
    }
    return ajv
  }
}

/** Whether a text has a format, as an instance of ajv says. */
export function matchesFormat (name: FormatName, text: string): boolean {
  const format = addFormats.default.get(name)
  const validate = typeof format === 'object' && 'validate' in format ? format.validate : format
  if (validate instanceof RegExp) return validate.test(text)
  return typeof validate === 'function' && Reflect.apply(validate, undefined, [text]) === true
}

function addCostKeyword (ajv: Ajv): void {
  ajv.addKeyword({
    keyword: COST,
    before: '$ref',
    code ({ gen, schema }) {
      gen.code(_`${gen.scopeValue('func', { ref: spend })}(${schema})`)
    }
  })
}
