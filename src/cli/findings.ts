import type { CatalogAdvice } from '../catalog/advice/piece.ts'
import type { SettingFacts } from '../catalog/compiled/definitions/compile-settings.ts'
import type { Problem } from '../catalog/compiled/problem.ts'

/**
 * What is wrong with a catalog, and the settings that it needs. A catalog with problems gets no advice, and
 * its settings are not listed: it has not loaded.
 */
export interface Findings {
  readonly problems: readonly Problem[]
  readonly advice: readonly CatalogAdvice[]
  readonly settings: readonly SettingFacts[]
}
