// JSON of others: what the page asks of a value before it reads its members.

export type JsonObject = { readonly [key: string]: unknown }

export function isRecord (value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value if it is a text. */
export function toTextOrNothing (value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Parses JSON that a person types. `problem` says why the text is no JSON. */
export function parseTyped (text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: describeFailure(error) }
  }
}

export function describeFailure (error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Writes a value as indented JSON. */
export function toPretty (value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? ''
}
