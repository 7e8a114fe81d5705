// Instances of ajv, with comparisons and patterns that take linear time and with the costs of checks. No
// other file imports ajv.

import { _, Ajv, Name, str, type Options } from 'ajv'
import addFormats, { type FormatName } from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { boundFormat } from './bounded-formats.ts'
import { boundKeywords } from './bounded-keywords.ts'
import { COST, costOfText, ITEM_COST, MEMBER_COST, spend, spendForMembers } from './check-cost.ts'
import { replaceItemKeywords } from './contained-items.ts'
import { repairEvaluatedParts } from './evaluated-parts.ts'
import { replaceComparisons } from './json-equality.ts'
import { createLinearPattern, type LinearPattern } from './linear-pattern.ts'

/** Steps that a pattern takes for a text of any length. */
const PATTERN_STEPS = 0.3

function createPattern (source: string): LinearPattern {
  const pattern = createLinearPattern(source)
  return {
    toString: () => source,
    test (text) {
      spend(PATTERN_STEPS + costOfText(text.length))
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

const CODEGEN = { _, str, Name }

/** Makes the instance of a dialect when it is first used. */
export function createInstances (options: Options): Instances {
  const byDialect = new Map<Dialect, Ajv>()
  return (dialect) => {
    let ajv = byDialect.get(dialect)
    if (ajv === undefined) {
      ajv = dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options)
      addFormats.default(ajv)
      for (const [name, format] of Object.entries(ajv.formats)) {
        if (format !== undefined) ajv.addFormat(name, boundFormat(name, format))
      }
      boundKeywords(ajv, CODEGEN)
      replaceComparisons(ajv, CODEGEN)
      repairEvaluatedParts(ajv, CODEGEN)
      replaceItemKeywords(ajv, CODEGEN)
      addCostKeywords(ajv)
      byDialect.set(dialect, ajv)
    }
    return ajv
  }
}

/** Whether a text has a format, as an instance of ajv says. */
export function matchesFormat (name: FormatName, text: string): boolean {
  const format = addFormats.default.get(name)
  const { validate } = Object(typeof format === 'string' ? undefined : boundFormat(name, format))
  return typeof validate === 'function' && Reflect.apply(validate, undefined, [text]) === true
}

function addCostKeywords (ajv: Ajv): void {
  const first = ajv.RULES.all.$dynamicAnchor === undefined ? '$ref' : '$dynamicAnchor'
  ajv.addKeyword({
    keyword: COST,
    before: first,
    code ({ gen, schema }) {
      gen.code(_`${gen.scopeValue('func', { ref: spend })}(${schema})`)
    }
  })
  ajv.addKeyword({
    keyword: ITEM_COST,
    type: 'array',
    before: 'maxItems',
    code ({ gen, data, schema }) {
      gen.code(_`${gen.scopeValue('func', { ref: spend })}(${data}.length * ${schema})`)
    }
  })
  ajv.addKeyword({
    keyword: MEMBER_COST,
    type: 'object',
    before: 'maxProperties',
    code ({ gen, data, schema }) {
      gen.code(_`${gen.scopeValue('func', { ref: spendForMembers })}(${data}, ${schema})`)
    }
  })
}
