// Replaces what a keyword of ajv does. Its place in the order of keywords stays.

import type { _, Ajv, CodeKeywordDefinition, Name, str } from 'ajv'

/** What the code of a keyword is written with. Only one file imports ajv. */
export interface Codegen {
  readonly _: typeof _
  readonly str: typeof str
  readonly Name: typeof Name
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
