// Defines the settings of a catalog: values that differ from one deployment to the next.

import { define, type Definition } from './definition.ts'

/**
 * One setting: a JSON Schema of a text, a number or a boolean, and how the service treats the value. Either
 * `type` or `enum` is needed.
 */
export interface SettingOptions {
  /** `string` for an `enum`. */
  type?: 'string' | 'number' | 'integer' | 'boolean'
  /** The allowed texts. */
  enum?: readonly string[]
  /** The format of a text, such as `uri` or `email`. */
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  /** The value while no variable is set. It must match the schema. None by default. */
  default?: string | number | boolean
  /** Whether the value may be missing without a default. It is then `undefined`. `false` by default. */
  optional?: boolean
  /** Whether no problem and no line of the log may quote the value. `false` by default. */
  secret?: boolean
  /** For the operator: `trivet check` prints it. */
  description?: string
}

type ValueOf<O> =
  O extends { readonly enum: ReadonlyArray<infer E> } ? E
    : O extends { readonly type: 'boolean' } ? boolean
      : O extends { readonly type: 'number' | 'integer' } ? number : string

/** The values of settings by name. */
export type SettingsOf<S> = {
  readonly [N in keyof S]: S[N] extends { readonly default: unknown } ? ValueOf<S[N]>
    : S[N] extends { readonly optional: true } ? ValueOf<S[N]> | undefined : ValueOf<S[N]>
}

/** Settings, made by `defineSettings`. `V` is the type of their values by name. */
export type SettingsDefinition<V = unknown> = Definition & {
  readonly variables: { readonly [name: string]: SettingOptions }
  readonly '~value'?: V
}

/**
 * Defines settings of the catalog. Each name is an environment variable. Any module of the catalog may define
 * settings, exported or not; handlers read them with `ctx.settings(definition)`, and dependencies in `open`.
 *
 * The values are read at each load of the catalog: from the variable, or from the file that the variable with
 * `_FILE` at its end names, such as a mounted secret. A line end at the end of the file is removed. An empty
 * variable counts as missing. Numbers are decimal, booleans are `true` or `false`.
 *
 * A required value that is missing, or one that does not match its schema, keeps the catalog from loading; so
 * does a variable that is set in both ways. The log then names the file and the variable, and never the value
 * of a secret. Names must not begin with `TRIVET_`. Two definitions may have a variable in common if its
 * options are the same. Clients learn nothing of settings.
 *
 * @example
 * export const settings = defineSettings({
 *   DATABASE_URL: { type: 'string', format: 'uri', secret: true, description: 'Where the orders are.' },
 *   PAGE_SIZE: { type: 'integer', minimum: 1, default: 20 }
 * })
 */
export function defineSettings<const S extends { readonly [name: string]: SettingOptions }> (
  variables: S
): SettingsDefinition<SettingsOf<S>> {
  return define('settings', { variables })
}
