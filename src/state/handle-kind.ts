import type { Check } from '../schema/check.ts'

/** A kind of state, checked and made ready to be used. */
export interface HandleKind {
  /** Unique in the catalog. */
  readonly kind: string
  /** What every id begins with, before an underscore. */
  readonly prefix: string
  readonly idleTtlMs: number
  readonly maxAgeMs: number | undefined
  readonly maxBytes: number
  /** The tool that makes one. */
  readonly createdBy: string | undefined
  readonly checkValue: Check
  /** Whether the check may change what it accepts: by filling in defaults, or by whatever a library does. */
  readonly mayChangeValue: boolean
}
