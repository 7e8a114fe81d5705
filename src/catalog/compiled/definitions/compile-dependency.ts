// Compiles the definition of a dependency.

import type { DependencyDefinition } from '../../../author/define-dependency.ts'
import type { ReportProblem } from '../problem.ts'
import { hasHandlers, hasShape } from './check-definition.ts'
import type { CompiledSettings } from './compile-settings.ts'
import { dependencyShape } from './definition-shapes.ts'

export interface CompiledDependency {
  readonly definition: DependencyDefinition
  readonly name: string
  /** The values of its settings. */
  readonly settings: object
  /** Texts that must not be logged. */
  readonly secrets: readonly string[]
  readonly openTimeoutMs: number
  readonly closeTimeoutMs: number
}

const OPEN_TIMEOUT_MS = 10_000
/** Less than the time that a process has after the deadline of its requests. */
const CLOSE_TIMEOUT_MS = 2000
const NO_SETTINGS = Object.freeze({})

/** Returns `undefined` when the definition is unusable. Every problem has then been reported. */
export function compileDependency (
  definition: DependencyDefinition, { values, secrets }: CompiledSettings, report: ReportProblem
): CompiledDependency | undefined {
  if (!hasShape(dependencyShape, definition, report)) return undefined
  const { name, settings, open, close, check } = definition
  if (!hasHandlers({ open, close, check }, report)) return undefined
  if (settings !== undefined && !values.has(settings)) {
    report('settings', 'must be made by defineSettings')
    return undefined
  }
  return {
    definition,
    name,
    settings: (settings && values.get(settings)) ?? NO_SETTINGS,
    secrets: (settings && secrets.get(settings)) ?? [],
    openTimeoutMs: definition.openTimeoutMs ?? OPEN_TIMEOUT_MS,
    closeTimeoutMs: definition.closeTimeoutMs ?? CLOSE_TIMEOUT_MS
  }
}
