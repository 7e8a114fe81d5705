import type { Check } from '../../schema/check.ts'

/** A compiled and checked handle definition. */
export interface HandleKind {
  /** Unique in the catalog. */
  readonly kind: string
  /** The start of every id, before an underscore. */
  readonly prefix: string
  readonly idleTtlMs: number
  readonly maxAgeMs: number | undefined
  readonly maxBytes: number
  /** The tool that creates a handle of this kind. */
  readonly createdBy: string | undefined
  readonly checkValue: Check
  /** Checks a value that was kept. Absent if the schema transforms values: it refuses what it has made. */
  readonly checkKept?: Check | undefined
  /** Makes a value of this schema of one that does not match it. */
  readonly migrate?: ((old: unknown) => unknown) | undefined
  /** Whether the check may change the value, for example by filling in defaults. */
  readonly mayChangeValue: boolean
}
