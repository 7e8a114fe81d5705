// Builds the JSON Schemas of the service's own formats: one schema is both the check and the type. The calls
// are those of TypeBox, which has three hundred modules to load.

import type { JsonSchema } from '../protocol/primitives.ts'

declare const ACCEPTED: unique symbol
const OPTIONAL: unique symbol = Symbol('optional')

/** A JSON Schema of values of type `T`. JSON and checks see no symbols. */
export interface FormatSchema<T = unknown> extends JsonSchema {
  readonly [ACCEPTED]?: T
  readonly [OPTIONAL]?: true
}

export interface OptionalSchema<T = unknown> extends FormatSchema<T> { readonly [OPTIONAL]: true }

/** The type of the values that a schema accepts. */
export type Static<S> = S extends FormatSchema<infer T> ? T : never

export type Members = { readonly [name: string]: FormatSchema }

type OptionalNames<M> = { [N in keyof M]: M[N] extends OptionalSchema ? N : never }[keyof M]

type Flat<T> = { [N in keyof T]: T[N] }

export type ObjectOf<M> = Flat<
  { [N in Exclude<keyof M, OptionalNames<M>>]: Static<M[N]> } & { [N in OptionalNames<M>]?: Static<M[N]> }
>

const build = <T>(keywords: JsonSchema, options: JsonSchema | undefined): FormatSchema<T> => {
  return { ...keywords, ...options }
}

export const Type = {
  Unknown: () => build<unknown>({}, undefined),
  String: (options?: JsonSchema) => build<string>({ type: 'string' }, options),
  Number: (options?: JsonSchema) => build<number>({ type: 'number' }, options),
  Integer: (options?: JsonSchema) => build<number>({ type: 'integer' }, options),
  Boolean: () => build<boolean>({ type: 'boolean' }, undefined),
  Literal: <const T extends string>(value: T) => build<T>({ type: 'string', const: value }, undefined),
  Enum: <const T extends string>(values: readonly T[]) => build<T>({ enum: values }, undefined),
  Array: <T>(items: FormatSchema<T>, options?: JsonSchema) => build<T[]>({ type: 'array', items }, options),
  Union: <const S extends readonly FormatSchema[]>(anyOf: S) => {
    return build<Static<S[number]>>({ anyOf }, undefined)
  },
  /** A member that may be missing. */
  Optional: <T>(schema: FormatSchema<T>): OptionalSchema<T> => ({ ...schema, [OPTIONAL]: true }),
  Object: <M extends Members>(properties: M, options?: JsonSchema) => {
    const required = Object.keys(properties).filter((name) => properties[name]?.[OPTIONAL] !== true)
    const keywords = { type: 'object', ...(required.length > 0 && { required }), properties }
    return build<ObjectOf<M>>(keywords, options)
  },
  /**
   * An object whose members all have one schema. A pattern for the names is matched with each of them, and a
   * client chooses how many there are.
   */
  Record: <T>(member: FormatSchema<T>, names?: string) => build<{ [name: string]: T }>(
    names === undefined
      ? { type: 'object', additionalProperties: member }
      : { type: 'object', patternProperties: { [names]: member }, additionalProperties: false },
    undefined
  )
}
