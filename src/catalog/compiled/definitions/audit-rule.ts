// What the audit log may keep of the arguments of a primitive.

import type { CommonOptions } from '../../../author/definition.ts'
import { isObject } from '../../../protocol/json-rpc.ts'

export interface AuditRule {
  /** The names of the arguments that the definition has. */
  readonly names: ReadonlySet<string>
  /** Whether values are kept too. */
  readonly hasValues: boolean
  /** Members whose values are never kept, at any depth. */
  readonly secretNames: ReadonlySet<string>
}

/**
 * @param names of the arguments.
 * @param schema of the arguments. Properties that are `writeOnly` or a password are secret.
 */
export function toAuditRule (
  { audit = 'names' }: Pick<CommonOptions, 'audit'>, names: Iterable<string>, schema?: unknown
): AuditRule {
  const hasValues = audit === 'values'
  const secretNames = new Set<string>()
  if (hasValues) collectSecretNames(schema, secretNames)
  return { names: new Set(names), hasValues, secretNames }
}

/** Adds the names of secret properties to `names`. */
function collectSecretNames (schema: unknown, names: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && isObject(value)) {
      for (const [name, property] of Object.entries(value)) if (isSecret(property)) names.add(name)
    }
    collectSecretNames(value, names)
  }
}

function isSecret (property: unknown): boolean {
  return isObject(property) && (property.writeOnly === true || property.format === 'password')
}
