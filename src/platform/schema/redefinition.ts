// Replaces what a keyword of ajv does. Its place in the order of keywords stays.

import type { _, Ajv, CodeKeywordDefinition, KeywordCxt, Name, str, stringify } from 'ajv'

/** What the code of a keyword is written with. Only one file imports ajv. */
export interface Codegen {
  readonly _: typeof _
  readonly str: typeof str
  readonly stringify: typeof stringify
  readonly Name: typeof Name
}

/** Names a function in the code of a keyword. Code that the build writes imports it by its name. */
export function refer ({ gen }: Pick<KeywordCxt, 'gen'>, { Name }: Codegen, ref: Function): Name {
  return gen.scopeValue('func', { ref, code: new Name(ref.name) })
}

/** Changes a keyword, if the instance knows it. */
export function redefine (
  { RULES }: Ajv, keyword: string, change: (definition: CodeKeywordDefinition) => CodeKeywordDefinition
): void {
  const rule = RULES.all[keyword]
  if (typeof rule !== 'object' || !('code' in rule.definition)) return
  const { type, schemaType } = rule.definition
  rule.definition = { ...change(rule.definition), type, schemaType }
}
