// The kinds of values that settings have, and the columns of the table.

/** The values that a setting may have. */
export interface Kind<T> {
  /** The values in words: completes "must be". */
  readonly form: string
  /** The same for an environment variable, if the words differ. */
  readonly textForm?: string
  /** The unit of a number, for the documentation. */
  readonly unit?: string
  /** Converts the text of an environment variable to a value, which may not be valid. */
  readonly parse: (text: string) => unknown
  readonly accepts: (value: unknown) => value is T
}

/** One row of the table of settings. */
export interface Setting<T = unknown> {
  /** The environment variable. */
  readonly variable: string
  readonly kind: Kind<T>
  /** The value of a setting that is not set. */
  readonly fallback: T | undefined
  /** The meaning, in Markdown. Links are relative to docs/. */
  readonly about: string
  /** Whether problems and flags must not contain the value. */
  readonly isSecret?: true
  /** Why the setting is no option of `createApp`, if only the process has it. */
  readonly processOnly?: string
}

/** Rows by option: the name of the variable in camel case, without `TRIVET_`. */
export interface SettingsTable { readonly [option: string]: Setting }

/** Makes one row of the table. */
export function setting<T, const F extends T | undefined> (
  variable: string, kind: Kind<T>, fallback: F, about: string
) {
  return { variable, kind, fallback, about }
}

export const secret = <Row extends object>(row: Row) => ({ ...row, isSecret: true as const })

export const ofProcess = <Row extends object>(processOnly: string, row: Row) => ({ ...row, processOnly })

type RowValue<Row> = Row extends { kind: Kind<infer T>, fallback: infer F }
  ? [F] extends [undefined] ? T | undefined : T
  : never

/** The values of the settings of a table, by option. */
export type ValuesOf<Table> = { readonly [K in keyof Table]: RowValue<Table[K]> }

export function integer (min: number, max: number, unit?: string): Kind<number> {
  return {
    form: `an integer from ${min} to ${max}`,
    ...unit !== undefined && { unit },
    parse: (text) => /^\d+$/.test(text) ? Number(text) : text,
    accepts: (value): value is number => typeof value === 'number' && Number.isInteger(value) &&
      value >= min && value <= max
  }
}

/** An integer, or one word. */
export function integerOr<const T extends string> (word: T, min: number, max: number): Kind<number | T> {
  const { form, parse, accepts } = integer(min, max)
  return {
    form: `${form}, or ${word}`,
    parse,
    accepts: (value): value is number | T => value === word || accepts(value)
  }
}

export const bytes = (min: number, max: number) => integer(min, max, 'bytes')
export const milliseconds = (min: number, max: number) => integer(min, max, 'milliseconds')

export function oneOf<const T extends string> (values: readonly T[]): Kind<T> {
  return {
    form: `one of ${values.join(', ')}`,
    parse: (text) => text,
    accepts: (value): value is T => values.some((allowed) => allowed === value)
  }
}

/** One of the keys of a table. */
export function keyOf<T extends object> (table: T): Kind<keyof T & string> {
  const { form, parse } = oneOf(Object.keys(table))
  return {
    form,
    parse,
    accepts: (value): value is keyof T & string => typeof value === 'string' && Object.hasOwn(table, value)
  }
}

export function text (form: string, pattern: Pick<RegExp, 'test'>): Kind<string> {
  return {
    form,
    parse: (text) => text,
    accepts: (value): value is string => typeof value === 'string' && pattern.test(value)
  }
}

export const file = text('the path of a file', /\S/)

export const address: Kind<string> = {
  ...text('an address or a host name', /^[^\s/]+$/),
  // An IPv6 address has brackets in a URL, but not when it is listened on.
  parse: (text) => text.replace(/^\[(.*)\]$/, '$1')
}

export function list (form: string, pattern: Pick<RegExp, 'test'>): Kind<readonly string[]> {
  return {
    form: `a list of ${form}`,
    textForm: `a comma-separated list of ${form}`,
    parse: toList,
    accepts: isListOf((item): item is string => typeof item === 'string' && pattern.test(item))
  }
}

export function manyOf<const T extends string> (values: readonly T[]): Kind<readonly T[]> {
  return {
    form: `a list of ${values.join(', ')}`,
    textForm: `one or several of ${values.join(', ')}, comma-separated`,
    parse: toList,
    accepts: isListOf(oneOf(values).accepts)
  }
}

const isListOf = <T>(isItem: (item: unknown) => item is T) => (value: unknown): value is readonly T[] =>
  Array.isArray(value) && value.every(isItem)

function toList (text: string): readonly string[] {
  return Object.freeze(text.split(',').map((value) => value.trim()).filter((value) => value !== ''))
}
