import type { Advice } from '../advice/piece.ts'
import type { Problem } from '../catalog/problem.ts'

/** What is wrong with a catalog. A catalog with problems gets no advice: it has not loaded. */
export interface Findings {
  readonly problems: readonly Problem[]
  readonly advice: readonly Advice[]
}
