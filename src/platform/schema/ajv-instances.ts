// Instances of ajv, with comparisons and patterns that take linear time and with the costs of checks. No
// other file imports ajv.

import { _, Ajv, Name, str, stringify, type Format, type Options } from 'ajv'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { boundFormat } from './bounded-formats.ts'
import { boundKeywords, isLonger, isShorter } from './bounded-keywords.ts'
import { COST, costOfText, ITEM_COST, MEMBER_COST, spend, spendForMembers } from './check-cost.ts'
import { replaceItemKeywords } from './contained-items.ts'
import { repairEvaluatedParts } from './evaluated-parts.ts'
import { createMembership, findEqualPair, replaceComparisons } from './json-equality.ts'
import { createLinearPattern, type LinearPattern } from './linear-pattern.ts'
import { refer } from './redefinition.ts'

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

/** For the service's own formats. RegExp matches their patterns fast too. RE2 takes 20 ms to compile them. */
export const OWN_FORMATS: Options = {
  ...OPTIONS, meta: false, validateSchema: false, code: { optimize: false }
}

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

const CODEGEN = { _, str, stringify, Name }

/** The formats of texts, with their bounds. */
const formats: { readonly [name: string]: Format } = Object.fromEntries(
  Object.entries(fullFormats).map(([name, format]) => [name, boundFormat(name, format)])
)

/** What the code of checks names that the build writes. */
export const SCOPE = {
  formats, spend, spendForMembers, isLonger, isShorter, createMembership, findEqualPair
}

/** Makes the instance of a dialect when it is first used. */
export function createInstances (options: Options): Instances {
  const byDialect = new Map<Dialect, Ajv>()
  return (dialect) => {
    let ajv = byDialect.get(dialect)
    if (ajv === undefined) {
      ajv = dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options)
      addFormats.default(ajv, { formats: [], keywords: true })
      for (const [name, format] of Object.entries(formats)) ajv.addFormat(name, format)
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

function addCostKeywords (ajv: Ajv): void {
  const first = ajv.RULES.all.$dynamicAnchor === undefined ? '$ref' : '$dynamicAnchor'
  ajv.addKeyword({
    keyword: COST,
    before: first,
    code (cxt) { cxt.gen.code(_`${refer(cxt, CODEGEN, spend)}(${cxt.schema})`) }
  })
  ajv.addKeyword({
    keyword: ITEM_COST,
    type: 'array',
    before: 'maxItems',
    code (cxt) { cxt.gen.code(_`${refer(cxt, CODEGEN, spend)}(${cxt.data}.length * ${cxt.schema})`) }
  })
  ajv.addKeyword({
    keyword: MEMBER_COST,
    type: 'object',
    before: 'maxProperties',
    code (cxt) { cxt.gen.code(_`${refer(cxt, CODEGEN, spendForMembers)}(${cxt.data}, ${cxt.schema})`) }
  })
}
