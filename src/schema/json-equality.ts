// The keywords that compare values, in time linear in the values. ajv's own compare each pair of items, and
// call members of the values that are named like methods, such as `valueOf`.

import type { Ajv, ErrorObject, FuncKeywordDefinition } from 'ajv'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'
import { stringify } from 'safe-stable-stringify'
import { costOfKey, spend } from './check-cost.ts'

const COMPARISONS: ReadonlyArray<FuncKeywordDefinition & { readonly keyword: string }> = [
  {
    keyword: 'enum',
    schemaType: 'array',
    errors: true,
    compile (allowedValues: readonly unknown[]) {
      if (allowedValues.length === 0) throw new Error('enum must have at least one item')
      const message = 'must be equal to one of the allowed values'
      return createMembership(allowedValues, { keyword: 'enum', message, params: { allowedValues } })
    }
  },
  {
    keyword: 'const',
    errors: true,
    compile (allowedValue: unknown) {
      const message = 'must be equal to constant'
      return createMembership([allowedValue], { keyword: 'const', message, params: { allowedValue } })
    }
  },
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: true,
    compile (isRequired: boolean) {
      const check: DataValidateFunction = (items: readonly unknown[]) => {
        const pair = isRequired ? findEqualPair(items) : undefined
        if (pair === undefined) return true
        const message = `must NOT have duplicate items (items ## ${pair.i} and ${pair.j} are identical)`
        check.errors = [{ keyword: 'uniqueItems', message, params: pair }]
        return false
      }
      return check
    }
  }
]

export function replaceComparisons (ajv: Ajv): void {
  for (const definition of COMPARISONS) {
    ajv.removeKeyword(definition.keyword)
    ajv.addKeyword(definition)
  }
}

function createMembership (allowed: readonly unknown[], error: Partial<ErrorObject>): DataValidateFunction {
  const keys = new Set(allowed.map(toKey))
  const check: DataValidateFunction = (value: unknown) => {
    const key = toKey(value)
    spend(costOfKey(value, key))
    if (keys.has(key)) return true
    // A copy: ajv writes the place of the value into it.
    check.errors = [{ ...error }]
    return false
  }
  return check
}

function findEqualPair (items: readonly unknown[]): { readonly i: number, readonly j: number } | undefined {
  const positions = new Map<string, number>()
  for (const [i, item] of items.entries()) {
    const key = toKey(item)
    spend(costOfKey(item, key))
    const j = positions.get(key)
    if (j !== undefined) return { i, j }
    positions.set(key, i)
  }
  return undefined
}

/** Returns the same text for equal JSON values, and for no others. */
function toKey (value: unknown): string {
  return typeof value === 'string' ? `"${value}` : stringify(value) ?? typeof value
}
