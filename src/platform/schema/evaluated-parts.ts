// The parts of a value that a schema has evaluated, for `unevaluatedItems` and `unevaluatedProperties`. ajv
// keeps them in variables of the compiled code.

import type { Ajv, KeywordCxt, Name } from 'ajv'
import { EVALUATED } from './check-cost.ts'
import { redefine, type Codegen } from './redefinition.ts'

/** Repairs what ajv takes for evaluated. */
export function repairEvaluatedParts (ajv: Ajv, { _, Name }: Codegen): void {
  if (ajv.RULES.all.unevaluatedProperties === undefined) {
    ajv.addKeyword(EVALUATED)
    return
  }
  // ajv declares the variables where a branch succeeds. In a loop they then still have the parts of an
  // earlier item when no branch does.
  ajv.addKeyword({
    keyword: EVALUATED,
    before: '$dynamicAnchor',
    code ({ gen, it }) {
      it.props = gen.var('props', _`{}`)
      it.items = gen.var('items', _`undefined`)
    }
  })

  redefine(ajv, 'if', ({ code, ...definition }) => ({
    ...definition,
    /** Counts what an `if` evaluates if it succeeds. ajv counts it always. */
    code (cxt) {
      const [subschema, merge] = [cxt.subschema.bind(cxt), cxt.mergeEvaluated.bind(cxt)]
      let lastValid = new Name('valid')
      cxt.subschema = (application, isValid) => {
        lastValid = isValid
        return subschema(application, isValid)
      }
      cxt.mergeEvaluated = (evaluated, toName) => {
        if (toName === undefined) cxt.mergeValidEvaluated(evaluated, lastValid)
        else merge(evaluated, toName)
      }
      code(cxt)
    }
  }))

  // ajv's own compares each member with each name of the schema, and takes inherited names for evaluated.
  redefine(ajv, 'unevaluatedProperties', (definition) => ({
    ...definition,
    code (cxt) {
      const { gen, data, it: { props } } = cxt
      cxt.it.props = true
      if (props === true || cxt.schema === true) return
      const names = props instanceof Name ? props : gen.scopeValue('obj', { ref: props ?? {} })
      const isEvaluated = gen.scopeValue('func', { ref: hasName })
      gen.if(_`${names} !== true`, () => gen.forIn('key', data, (name) => {
        gen.if(_`!${isEvaluated}(${names}, ${name})`, () => checkUnevaluated(cxt, name, _))
      }))
      cxt.ok(_`${cxt.errsCount} === ${new Name('errors')}`)
    }
  }))
}

function hasName (names: object | undefined, name: string): boolean {
  return names !== undefined && Object.hasOwn(names, name)
}

function checkUnevaluated (cxt: KeywordCxt, name: Name, _: Codegen['_']): void {
  const { gen, schema, allErrors } = cxt
  if (schema === false) {
    cxt.setParams({ unevaluatedProperty: name })
    cxt.error()
    if (allErrors !== true) gen.break()
    return
  }
  const isValid = gen.name('valid')
  cxt.subschema({ keyword: 'unevaluatedProperties', dataProp: name, dataPropType: 1 }, isValid)
  if (allErrors !== true) gen.if(_`!${isValid}`, () => gen.break())
}
