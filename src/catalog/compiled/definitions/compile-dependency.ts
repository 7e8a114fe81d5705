// Compiles the definition of a dependency.

import type { DependencyDefinition, OpenContext } from '../../../platform/author/define-dependency.ts'
import type { ReportProblem } from '../problem.ts'
import { hasHandlers, hasShape } from './check-definition.ts'
import type { CompiledSettings } from './compile-settings.ts'
import { dependencyShape } from './definition-shapes.ts'

export interface CompiledDependency {
  /** The definition that handlers name. */
  readonly definition: object
  /** Unique among all that is opened. */
  readonly name: string
  /** The values of its settings. */
  readonly settings: object
  /** Texts that must not be logged. */
  readonly secrets: readonly string[]
  readonly openTimeoutMs: number
  readonly closeTimeoutMs: number
  /** The member of the definition whose problem it is if it does not open. */
  readonly openedBy: string
  open (context: OpenContext<unknown>): unknown
  close (value: unknown): unknown
  /** Absent if the value counts as ready. */
  check? (value: unknown, context: { readonly signal: AbortSignal }): unknown
}

export const OPEN_TIMEOUT_MS = 10_000
/** Less than the time that a process has after the deadline of its requests. */
export const CLOSE_TIMEOUT_MS = 2000
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
    closeTimeoutMs: definition.closeTimeoutMs ?? CLOSE_TIMEOUT_MS,
    openedBy: 'open',
    open: (context) => definition.open(context),
    close: (value) => definition.close?.(value),
    ...(check !== undefined && { check: (value, context) => definition.check?.(value, context) })
  }
}
