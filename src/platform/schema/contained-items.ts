// The keywords `contains` and `unevaluatedItems`, in time linear in the array. ajv's own `contains` collects
// the problems of every item that does not match, and copies them for each of some. It also counts every item
// as evaluated: JSON Schema counts those that match.
// https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.1.3

import type { Ajv, CodeKeywordDefinition, KeywordCxt, Name } from 'ajv'
import { MATCHES } from './check-cost.ts'
import { redefine, type Codegen } from './redefinition.ts'

interface ContainsMatch {
  readonly items: readonly unknown[]
  readonly indices: readonly number[]
}

/** The items that matched a `contains`, for each `unevaluatedItems` around it. A check fills it in order. */
const matches: ContainsMatch[] = []

/** Forgets the matches of checks that ended by an error. */
export function forgetMatches (): void {
  matches.length = 0
}

/** Tells which items have matched since a position, and forgets these matches. */
function takeMatched (items: readonly unknown[], start: number): Uint8Array {
  const isMatched = new Uint8Array(items.length)
  for (const match of matches.splice(start)) {
    if (match.items === items) for (const index of match.indices) isMatched[index] = 1
  }
  return isMatched
}

/** Finds the first item that has not matched, from an index on. Returns -1 if there is none. */
function findUnmatched (items: readonly unknown[], start: number, first: number): number {
  return takeMatched(items, start).indexOf(0, first)
}

/** Keywords whose subschemas may fail while the check goes on. */
const ALTERNATIVES = ['anyOf', 'oneOf', 'not', 'if']

export function replaceItemKeywords (ajv: Ajv, codegen: Codegen): void {
  /** The number of matches when the evaluation of a schema began. */
  const starts = new WeakMap<KeywordCxt['it'], Name>()
  if (ajv.RULES.all.unevaluatedItems === undefined) ajv.addKeyword(MATCHES)
  else {
    ajv.addKeyword({
      keyword: MATCHES,
      before: '$dynamicAnchor',
      code (cxt) {
        if ('unevaluatedItems' in cxt.parentSchema) starts.set(cxt.it, declareCount(cxt, codegen))
      }
    })
  }
  redefine(ajv, 'contains', (contains) => ({ ...contains, code: (cxt) => checkContains(cxt, codegen) }))
  redefine(ajv, 'unevaluatedItems', (unevaluatedItems) => ({
    ...unevaluatedItems,
    error: {
      message: ({ params: { limit, index } }) => index === undefined
        ? codegen.str`must NOT have more than ${limit} items`
        : codegen.str`must NOT have items like that at index ${index}, which the schema does not describe`,
      params: ({ params: { limit, index } }) => index === undefined
        ? codegen._`{limit: ${limit}}`
        : codegen._`{index: ${index}}`
    },
    code: (cxt) => checkUnevaluatedItems(cxt, codegen, starts.get(cxt.it))
  }))
  for (const keyword of ALTERNATIVES) {
    redefine(ajv, keyword, (definition) => withoutFailedMatches(definition, codegen))
  }
}

const logIn = ({ gen }: KeywordCxt) => gen.scopeValue('obj', { ref: matches })

/** Writes a constant: the number of matches at this point of the check. */
function declareCount (cxt: KeywordCxt, { _ }: Codegen): Name {
  return cxt.gen.const('start', _`${logIn(cxt)}.length`)
}

/** Each subschema that fails takes its matches back. */
function withoutFailedMatches (definition: CodeKeywordDefinition, codegen: Codegen): CodeKeywordDefinition {
  const { _ } = codegen
  return {
    ...definition,
    code (cxt) {
      if (MATCHES in cxt.parentSchema) {
        const subschema = cxt.subschema.bind(cxt)
        cxt.subschema = (application, isValid) => {
          const start = declareCount(cxt, codegen)
          const context = subschema(application, isValid)
          cxt.gen.if(_`!${isValid}`, () => cxt.gen.code(_`${logIn(cxt)}.length = ${start}`))
          return context
        }
      }
      definition.code(cxt)
    }
  }
}

function checkContains (cxt: KeywordCxt, { _, Name }: Codegen): void {
  const { gen, data, it, parentSchema, allErrors = false, errsCount } = cxt
  const { minContains: min = 1, maxContains: max } = it.opts.next === true ? parentSchema : {}
  const isLogged = it.opts.unevaluated === true && MATCHES in parentSchema
  if (min === 0 && max === undefined && !isLogged) return
  cxt.setParams({ min, max })
  const [errors, vErrors] = [new Name('errors'), new Name('vErrors')]
  const length = gen.const('len', _`${data}.length`)
  const count = gen.let('count', 0)
  const indices = isLogged ? gen.const('indices', _`[]`) : undefined
  // The problems of the first item that does not match show what was expected.
  const firstError = allErrors ? gen.let('shown', _`${errsCount}`) : undefined
  gen.forRange('i', 0, length, (index) => {
    const isMatch = gen.name('valid')
    const item = { dataProp: index, dataPropType: 0, compositeRule: true, createErrors: allErrors } as const
    cxt.subschema({ keyword: 'contains', ...item, allErrors }, isMatch)
    gen.if(isMatch, onMatch, onFailure)

    function onMatch (): void {
      gen.code(_`${count}++`)
      if (indices !== undefined) gen.code(_`${indices}.push(${index})`)
      if (max !== undefined) gen.if(_`${count} > ${max}`, () => gen.break())
      else if (!isLogged) gen.if(_`${count} >= ${min}`, () => gen.break())
    }

    function onFailure (): void {
      if (firstError === undefined) cxt.reset()
      else {
        gen.if(_`${firstError} === ${errsCount}`, () => gen.assign(firstError, errors), () => {
          gen.assign(errors, firstError).code(_`${vErrors}.length = ${firstError}`)
        })
      }
    }
  })
  if (indices !== undefined) gen.code(_`${logIn(cxt)}.push({ items: ${data}, indices: ${indices} })`)
  const hasFew = _`${count} < ${min}`
  const isWrong = max === undefined ? hasFew : _`${hasFew} || ${count} > ${max}`
  cxt.failResult(isWrong, firstError && (() => cxt.reset()), () => {
    if (firstError !== undefined && max !== undefined) gen.if(_`${count} > ${max}`, () => cxt.reset())
    cxt.error()
  })
}

function checkUnevaluatedItems (cxt: KeywordCxt, { _ }: Codegen, start: Name | undefined): void {
  const { gen, data, it, schema, allErrors } = cxt
  const { items = 0 } = it
  it.items = true
  if (items === true || schema === true) return
  const length = gen.const('len', _`${data}.length`)
  const first = typeof items === 'number'
    ? gen.const('first', items)
    : gen.const('first', _`${items} === true ? ${length} : ${items} || 0`)
  if (schema === false) {
    if (start === undefined) {
      cxt.setParams({ limit: first })
      cxt.fail(_`${length} > ${first}`)
    } else {
      const find = gen.scopeValue('func', { ref: findUnmatched })
      const index = gen.const('index', _`${find}(${data}, ${start}, ${first})`)
      cxt.setParams({ index })
      cxt.fail(_`${index} >= 0`)
    }
    return
  }
  const isValid = gen.let('valid', true)
  const take = gen.scopeValue('func', { ref: takeMatched })
  const isMatched = start === undefined ? undefined : gen.const('matched', _`${take}(${data}, ${start})`)
  gen.forRange('i', first, length, (index) => {
    if (isMatched === undefined) checkItem()
    else gen.if(_`${isMatched}[${index}] === 0`, checkItem)

    function checkItem (): void {
      const isItemValid = gen.name('valid')
      cxt.subschema({ keyword: 'unevaluatedItems', dataProp: index, dataPropType: 0 }, isItemValid)
      gen.if(_`!${isItemValid}`, () => {
        gen.assign(isValid, false)
        if (allErrors !== true) gen.break()
      })
    }
  })
  cxt.ok(isValid)
}
