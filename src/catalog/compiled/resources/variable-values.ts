// The values that a URI has for the variables of its template. A variable may stand in several places, and in
// some with a prefix of its value only.

import type { TemplateVariables } from '../../../platform/author/define-resource.ts'
import type { Variable } from './uri-template-syntax.ts'

export type Value = string | string[]

/** A value, and how many of its characters its place has. */
interface Occurrence { readonly value: Value, readonly maxLength: number }

export class VariableValues {
  readonly #byName = new Map<string, Occurrence>()
  #agree = true

  /** @param value `undefined` if the URI does not have the variable in this place. */
  add ({ name, maxLength = Infinity }: Variable, value: Value | undefined): void {
    if (value === undefined) return
    const earlier = this.#byName.get(name)
    const [longer, shorter] = earlier === undefined || earlier.maxLength < maxLength
      ? [{ value, maxLength }, earlier]
      : [earlier, { value, maxLength }]
    this.#byName.set(name, longer)
    const isWithin = typeof value !== 'string' || maxLength === Infinity || [...value].length <= maxLength
    const expected = shorter && toPrefix(longer.value, shorter.maxLength)
    if (!isWithin || JSON.stringify(expected) !== JSON.stringify(shorter?.value)) this.#agree = false
  }

  /** Returns `undefined` if the values of one variable differ. */
  toVariables (names: readonly string[]): TemplateVariables | undefined {
    if (!this.#agree) return undefined
    const variables: { [name: string]: Value | undefined } = Object.create(null)
    for (const name of names) variables[name] = this.#byName.get(name)?.value
    return variables
  }
}

/** Returns what a place with this many characters has of a value. */
export function toPrefix (value: Value, maxLength = Infinity): Value {
  return typeof value === 'string' && maxLength < Infinity ? [...value].slice(0, maxLength).join('') : value
}
