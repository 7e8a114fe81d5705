// Keywords of ajv whose work exceeds the value that a client sends, rewritten. The others keep ajv's code.

import type { Ajv, CodeKeywordDefinition, KeywordCxt } from 'ajv'
import { costOfText, spend } from './check-cost.ts'
import { redefine, refer, type Codegen } from './redefinition.ts'

type KeywordCode = (cxt: KeywordCxt, codegen: Codegen, definition: CodeKeywordDefinition) => void

const CODES: { readonly [keyword: string]: KeywordCode } = {
  // ajv's own counts all code points of each text.
  maxLength: (cxt, codegen) => failIf(cxt, codegen, isLonger),
  minLength: (cxt, codegen) => failIf(cxt, codegen, isShorter),
  // ajv's own writes each quotient as text.
  multipleOf: (cxt, { _ }) => cxt.fail(_`!Number.isInteger(${cxt.data} / ${cxt.schemaCode})`),

  /** ajv's own goes on after a member that is refused, and copies the problems of each. */
  patternProperties (cxt, { _ }, { code }) {
    const { gen, allErrors } = cxt
    const subschema = cxt.subschema.bind(cxt)
    cxt.subschema = (application, isValid) => {
      const context = subschema(application, isValid)
      if (allErrors !== true) gen.if(_`!${isValid}`, () => gen.break())
      return context
    }
    code(cxt)
  },

  prefixItems: checkTuple,
  items (cxt, codegen, { code }) {
    if (Array.isArray(cxt.schema)) checkTuple(cxt, codegen)
    else code(cxt)
  }
}

function failIf (cxt: KeywordCxt, codegen: Codegen, isWrong: (text: string, limit: number) => boolean): void {
  cxt.fail(codegen._`${refer(cxt, codegen, isWrong)}(${cxt.data}, ${cxt.schemaCode})`)
}

/** ajv's own passes over later keywords where the list has fewer items than the tuple. */
function checkTuple (cxt: KeywordCxt, { _ }: Codegen): void {
  const { gen, data, it, keyword, schema, allErrors } = cxt
  const tuple: readonly unknown[] = schema
  const { props, ...context } = it
  cxt.mergeEvaluated({ ...context, items: tuple.length })
  const isValid = gen.let('valid', true)
  for (const index of tuple.keys()) {
    const isPresent = _`${data}.length > ${index}`
    gen.if(allErrors === true ? isPresent : _`${isValid} && ${isPresent}`, () => {
      const isItemValid = gen.name('valid')
      cxt.subschema({ keyword, schemaProp: index, dataProp: index }, isItemValid)
      gen.assign(isValid, isItemValid)
    })
  }
  cxt.ok(isValid)
}

export function boundKeywords (ajv: Ajv, codegen: Codegen): void {
  for (const [keyword, write] of Object.entries(CODES)) {
    redefine(ajv, keyword, (definition) => ({
      ...definition,
      code: (cxt) => write(cxt, codegen, definition)
    }))
  }
}

/** Whether the text has more code points. Each has one or two of the units that `length` counts. */
export function isLonger (text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || countCodePoints(text) > max)
}

export function isShorter (text: string, least: number): boolean {
  return text.length < 2 * least && (text.length < least || countCodePoints(text) < least)
}

function countCodePoints (text: string): number {
  spend(costOfText(text.length))
  let count = 0
  for (let at = 0; at < text.length; at++) {
    count++
    if ((text.codePointAt(at) ?? 0) > 0xffff) at++
  }
  return count
}
