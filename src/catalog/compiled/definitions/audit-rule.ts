// What the audit log may keep of the arguments of a primitive.

import type { CommonOptions } from '../../../author/definition.ts'

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

function collectSecretNames (schema: unknown, found: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && typeof value === 'object' && value !== null) {
      for (const [name, property] of Object.entries(value)) if (isSecret(property)) found.add(name)
    }
    collectSecretNames(value, found)
  }
}

function isSecret (property: unknown): boolean {
  if (typeof property !== 'object' || property === null) return false
  return ('writeOnly' in property && property.writeOnly === true) ||
    ('format' in property && property.format === 'password')
}
