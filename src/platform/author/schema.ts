// The kinds of schema that an author may write, and the types that the service infers from them.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Static, TSchema } from 'typebox'

/** A JSON Schema (2020-12, or draft-07 by `$schema`), a TypeBox type, or a Standard Schema such as Zod's. */
export type Schema = object

/** TypeBox marks its own types with `~kind`. TypeBox infers them without help. */
type IsTypeBox<S> = S extends { readonly '~kind': string } ? true : false

/** A plain schema without the `enum`s of unknown members: those properties have only their `type`. */
type PlainSchema<S> =
  IsTypeBox<S> extends true ? S
    : S extends { readonly enum: infer E extends readonly unknown[] }
      ? number extends E['length'] ? Omit<S, 'enum'> : S
      : S extends { readonly properties: infer P }
        ? Omit<S, 'properties'> & { readonly properties: TypedMembers<P> }
        : S extends { readonly items: infer I } ? Omit<S, 'items'> & { readonly items: PlainSchema<I> } : S

type TypedMembers<P> = { readonly [K in keyof P]: PlainSchema<P[K]> }

/** The type of the values of a schema. `Otherwise` for a schema whose type is too wide to infer anything. */
type TypeOf<S, Otherwise> =
  PlainSchema<S> extends infer R extends TSchema
    ? unknown extends Static<R> ? Otherwise : Static<R>
    : Otherwise

type DefaultedKeys<S> = S extends { readonly properties: infer P }
  ? { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P]
  : never

/** The service fills in defaults before it calls `run`: an argument with a default is never missing. */
type WithDefaults<T, S> = T & Required<Pick<T, Extract<keyof T, DefaultedKeys<S>>>>

type DeepReadonly<T> = T extends ReadonlyArray<infer E> ? ReadonlyArray<DeepReadonly<E>>
  : T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/** The type of the arguments of `run`: after the schema's defaults and transforms. */
export type ArgumentsOf<S> =
  S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S>
    : [S] extends [undefined] ? Record<string, unknown>
        : WithDefaults<TypeOf<S, Record<string, unknown>>, S>

/** The type of a form's content. A default is a suggestion to the user: such a field may be missing. */
export type FormContentOf<S> =
  S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : TypeOf<S, Record<string, unknown>>

/** The type of the structured content that `run` returns. The service only reads it: readonly data fits. */
export type StructuredContentOf<S> =
  DeepReadonly<S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : TypeOf<S, unknown>>
