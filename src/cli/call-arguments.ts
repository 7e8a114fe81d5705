// The arguments of a tool, as somebody writes them at a terminal.

import { isObject } from '../protocol/json-rpc.ts'
import { UsageError } from './command.ts'

/** Splits `key=value`. Throws a UsageError for a text without a key. */
export function readPairs (written: readonly string[], what: string): Array<readonly [string, string]> {
  return written.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError(`${what} must have the form key=value, got ${JSON.stringify(text)}`)
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
}

/** A value is a string where the schema says so, and where it is no JSON. The service checks the rest. */
export function readArguments (
  written: readonly string[], schema: object
): { readonly [name: string]: unknown } {
  const properties = 'properties' in schema && isObject(schema.properties) ? schema.properties : {}
  return Object.fromEntries(readPairs(written, 'an argument').map(([name, text]) => {
    const property = properties[name]
    return [name, isObject(property) && property.type === 'string' ? text : parse(text)]
  }))
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
