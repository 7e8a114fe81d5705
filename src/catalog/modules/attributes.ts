// Import attributes: `with { type: 'json' }`.

import { loadError } from './syntax-error.ts'

export type Attributes = { readonly [key: string]: string }

/**
 * Reads the attributes in the options of an `import()`. Throws a TypeError when the options are malformed.
 */
export function readAttributes (options: unknown): Attributes {
  if (options === undefined) return {}
  if (!isObject(options)) throw new TypeError('The second argument to import() must be an object')
  const { with: given } = options
  if (given === undefined) return {}
  if (!isObject(given)) throw new TypeError("The 'with' option must be an object")
  return Object.fromEntries(Object.entries(given).map(([key, value]) => {
    if (typeof value !== 'string') throw new TypeError('Import attribute value must be a string')
    return [key, value]
  }))
}

function isObject (value: unknown): value is { readonly [key: string]: unknown } {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/** Throws the errors of Node. Unlike in Node, JSON may be imported without the attribute. */
export function checkAttributes (attributes: Attributes, url: string, isJson: boolean): void {
  for (const [key, value] of Object.entries(attributes)) {
    if (key !== 'type' || value !== 'json') {
      throw loadError(
        TypeError, 'ERR_IMPORT_ATTRIBUTE_UNSUPPORTED',
        `Import attribute "${key}" with value "${value}" is not supported`
      )
    }
    if (!isJson) {
      throw loadError(
        TypeError, 'ERR_IMPORT_ATTRIBUTE_TYPE_INCOMPATIBLE', `Module "${url}" is not of type "json"`
      )
    }
  }
}
