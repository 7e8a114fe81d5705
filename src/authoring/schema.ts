// The kinds of schema that an author may write, and the types that follow from each.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Static, TSchema } from 'typebox'

/** A plain JSON Schema (2020-12, or draft-07 by `$schema`), a TypeBox type, or a Standard Schema (Zod, Valibot, ArkType). */
export type Schema = object

/** TypeBox marks its own types, and knows best what they say. */
type IsTypeBox<S> = S extends { readonly '~kind': string } ? true : false

/** A plain schema whose `enum`s are known only when the catalog loads says of them just their type. */
type TypedSchema<S> =
  IsTypeBox<S> extends true ? S
    : S extends { readonly enum: readonly unknown[] } ? number extends S['enum']['length'] ? Omit<S, 'enum'> : S
      : S extends { readonly properties: infer P } ? Omit<S, 'properties'> & { readonly properties: { readonly [K in keyof P]: TypedSchema<P[K]> } }
        : S extends { readonly items: infer I } ? Omit<S, 'items'> & { readonly items: TypedSchema<I> } : S

/** What a schema says; a schema that is too wide to say anything leaves the value as it comes. */
type TypeOf<S, Otherwise> = TypedSchema<S> extends infer R extends TSchema ? unknown extends Static<R> ? Otherwise : Static<R> : Otherwise

type DefaultedKeys<S> = S extends { readonly properties: infer P }
  ? { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P]
  : never

/** An argument with a default is there when `run` is called. */
type WithDefaults<T, S> = T & Required<Pick<T, Extract<keyof T, DefaultedKeys<S>>>>

type DeepReadonly<T> = T extends ReadonlyArray<infer E> ? ReadonlyArray<DeepReadonly<E>>
  : T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/** The arguments that `run` receives: what the schema accepts, after its defaults and transforms. */
export type ArgumentsOf<S> =
  S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S>
    : [S] extends [undefined] ? Record<string, unknown>
        : WithDefaults<TypeOf<S, Record<string, unknown>>, S>

/** What a client fills in: defaults are suggestions to its user, so that what has one may be absent all the same. */
export type FormContentOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : TypeOf<S, Record<string, unknown>>

/** The structured content that `run` returns where there is an output schema. It is only read: readonly data will do. */
export type StructuredContentOf<S> = DeepReadonly<S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : TypeOf<S, unknown>>
