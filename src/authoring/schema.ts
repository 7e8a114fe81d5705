// The kinds of schema that an author may write, and the types that follow from each.

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Static, TSchema } from 'typebox'

/** A plain JSON Schema (2020-12, or draft-07 by `$schema`), a TypeBox type, or a Standard Schema (Zod, Valibot, ArkType). */
export type Schema = object

/** What a schema says; a schema that is too wide to say anything leaves the arguments as they come. */
type TypeOf<S, Otherwise> = S extends TSchema ? unknown extends Static<S> ? Otherwise : Static<S> : Otherwise

/** The arguments that `run` receives: what the schema accepts, after its defaults and transforms. */
export type ArgumentsOf<S> =
  S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S>
    : [S] extends [undefined] ? Record<string, unknown>
        : TypeOf<S, Record<string, unknown>>

/** The structured content that `run` returns where there is an output schema. */
export type StructuredContentOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : TypeOf<S, unknown>
