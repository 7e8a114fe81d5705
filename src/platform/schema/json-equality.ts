// The keywords that compare values, in time linear in the values. ajv's own compare each pair of items, and
// call members of the values that are named like methods, such as `valueOf`.

import type { Ajv, KeywordCxt } from 'ajv'
import { stringify } from 'safe-stable-stringify'
import { costOfText, spend } from './check-cost.ts'
import { memberNames } from './member-names.ts'
import { redefine, refer, type Codegen } from './redefinition.ts'

export function replaceComparisons (ajv: Ajv, codegen: Codegen): void {
  const { _ } = codegen
  redefine(ajv, 'enum', (definition) => ({
    ...definition,
    schemaType: 'array',
    code (cxt) {
      const allowed: readonly unknown[] = cxt.schema
      if (allowed.length === 0) throw new Error('enum must have at least one item')
      checkMembership(cxt, allowed, codegen)
    }
  }))
  redefine(ajv, 'const', (definition) => ({
    ...definition,
    code (cxt) { checkMembership(cxt, [cxt.schema], codegen) }
  }))
  redefine(ajv, 'uniqueItems', (definition) => ({
    ...definition,
    code (cxt) {
      if (cxt.schema !== true) return
      const find = refer(cxt, codegen, findEqualPair)
      const pair = cxt.gen.const('pair', _`${find}(${cxt.data})`)
      cxt.setParams({ i: _`${pair}.i`, j: _`${pair}.j` })
      cxt.fail(_`${pair} !== undefined`)
    }
  }))
}

function checkMembership (
  cxt: KeywordCxt, allowed: readonly unknown[], { _, Name, stringify }: Codegen
): void {
  const code = _`${new Name(createMembership.name)}(${stringify(allowed)})`
  const isAllowed = cxt.gen.scopeValue('func', { ref: createMembership(allowed), code })
  cxt.fail(_`!${isAllowed}(${cxt.data})`)
}

export function createMembership (allowed: readonly unknown[]): (value: unknown) => boolean {
  const scalars = new Set(allowed.filter(isScalar))
  const composites = allowed.filter((value) => !isScalar(value))
  const texts = new Set(composites.map(toText))
  const mostParts = Math.max(0, ...composites.map((value) => countParts(value, Infinity)))
  return (value) => {
    if (isScalar(value)) {
      spend(costOfScalar(value))
      return scalars.has(value)
    }
    // No value is written as text that has more parts than each that is allowed.
    return mostParts > 0 && countParts(value, mostParts) <= mostParts && texts.has(toPaidText(value))
  }
}

/** Steps that it takes to note the position of an item. */
const PLACED = 0.2

export function findEqualPair (
  items: readonly unknown[]
): { readonly i: number, readonly j: number } | undefined {
  const [scalars, texts] = [new Map<unknown, number>(), new Map<unknown, number>()]
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    const positions = isScalar(item) ? scalars : texts
    spend(PLACED)
    if (positions === scalars) spend(costOfScalar(item))
    const key = positions === scalars ? item : toPaidText(item)
    const j = positions.get(key)
    if (j !== undefined) return { i, j }
    positions.set(key, i)
  }
  return undefined
}

/** Whether a Set knows equal values: 0 and -0 are equal there, as they are in JSON. */
function isScalar (value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function costOfScalar (value: unknown): number {
  return typeof value === 'string' ? costOfText(value.length) : 0.2
}

/** Returns the same text for equal JSON values, and for no others. */
function toText (value: unknown): string {
  return stringify(value) ?? typeof value
}

/** Steps that it takes to write a character of a value's text. */
const WRITTEN = 0.15

function toPaidText (value: unknown): string {
  const text = toText(value)
  spend(2 + text.length * WRITTEN)
  return text
}

/** Counts the values in a value, until there are more than `most`. */
function countParts (value: unknown, max: number): number {
  let count = 0
  const waiting = [value]
  while (waiting.length > 0 && count <= max) {
    const next = waiting.pop()
    count++
    if (typeof next !== 'object' || next === null) continue
    const length = Array.isArray(next) ? next.length : memberNames(next).length
    if (count + length > max) return count + length
    waiting.push(...Object.values(next))
  }
  return count
}
