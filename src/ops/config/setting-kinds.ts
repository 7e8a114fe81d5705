// The kinds of values that settings have.

/** The values that a setting may have. */
export interface Kind<T> {
  /** The values in words: completes "must be". */
  readonly form: string
  /** The same for an environment variable, if the words differ. */
  readonly textForm?: string
  /** Converts the text of an environment variable to a value, which may not be valid. */
  readonly parse: (text: string) => unknown
  readonly accepts: (value: unknown) => value is T
}

/** One setting of the service. */
export interface Setting<T> {
  readonly variable: string
  readonly fallback: T
  readonly kind: Kind<T>
  /** Whether problems must not contain the value. */
  readonly isSecret?: true
}

export function integer (min: number, max: number): Kind<number> {
  return {
    form: `an integer from ${min} to ${max}`,
    parse: (text) => /^\d+$/.test(text) ? Number(text) : text,
    accepts: (value): value is number => typeof value === 'number' && Number.isInteger(value) &&
      value >= min && value <= max
  }
}

export function oneOf<const T extends string> (values: readonly T[]): Kind<T> {
  return {
    form: values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`,
    parse: (text) => text,
    accepts: (value): value is T => values.some((one) => one === value)
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

export function address (): Kind<string> {
  const kind = text('an address or a host name', /^[^\s/]+$/)
  // An IPv6 address has brackets in a URL, but not when it is listened on.
  return { ...kind, parse: (text) => text.replace(/^\[(.*)\]$/, '$1') }
}

export function list (form: string, pattern: Pick<RegExp, 'test'>): Kind<readonly string[]> {
  return {
    form: `a list of ${form}`,
    textForm: `a comma-separated list of ${form}`,
    parse: (text) => Object.freeze(
      text.split(',').map((value) => value.trim()).filter((value) => value !== '')
    ),
    accepts: (value): value is readonly string[] => Array.isArray(value) &&
      value.every((one) => typeof one === 'string' && pattern.test(one))
  }
}

export function manyOf<const T extends string> (values: readonly T[]): Kind<readonly T[]> {
  const isOne = (value: unknown) => values.some((one) => one === value)
  const { parse } = list('', /^/)
  return {
    form: `a list of ${values.join(', ')}`,
    textForm: `one or several of ${values.join(', ')}, comma-separated`,
    parse,
    accepts: (value): value is readonly T[] => Array.isArray(value) && value.every(isOne)
  }
}
