// Reads the claims of a token. They are JSON of somebody else: each may be absent or of another type.

export interface Claims {
  readonly [name: string]: unknown
}

/** The claim with this name. If there is none, each dot of the name leads into an object. */
export function readClaim (claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined
    value = value[part]
  }
  return value
}

/** The text of the first claim that has one. */
export function readFirstText (claims: Claims, names: readonly string[]): string | undefined {
  return names.map((name) => readClaim(claims, name)).find(isText)
}

/** The scopes of a claim: a text with spaces between, or a list. */
export function readGrantedScopes (claims: Claims, name: string): readonly string[] {
  const value = readClaim(claims, name)
  if (typeof value === 'string') return value.split(' ').filter(isText)
  return Array.isArray(value) ? value.filter(isText) : []
}

/** Without recursion, because a value of a few kilobytes may be nested thousands of times. */
export function freezeDeeply<T extends object> (root: T): T {
  const waiting: object[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    for (const inner of Object.values(value)) {
      if (typeof inner === 'object' && inner !== null) waiting.push(inner)
    }
    Object.freeze(value)
  }
  return root
}

function isText (value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isObject (value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
