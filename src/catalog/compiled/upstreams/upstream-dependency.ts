// An upstream as a dependency: loads that follow one another share its pool, and it is closed when no request
// can call it any more. What compiles and opens it is contributed.

import type { UpstreamDefinition } from '../../../platform/author/define-upstream.ts'
import { kindOf } from '../../../platform/author/definition.ts'
import type { UpstreamAuth } from '../../../platform/author/upstream-auth.ts'
import type { Compiled } from '../compiled-primitive.ts'
import type { Located } from '../contents.ts'
import type { CompiledDependency } from '../definitions/compile-dependency.ts'
import type { CompiledSettings } from '../definitions/compile-settings.ts'
import { unknownDefinition, type SharedValues } from '../definitions/shared-values.ts'
import type { ReportProblem } from '../problem.ts'
import type { OpenUpstream } from './open-upstream.ts'

/** Its value, once it is open, is an OpenUpstream. */
export interface UpstreamDependency extends CompiledDependency {
  readonly definition: UpstreamDefinition
  readonly url: string
}

/** Returns `undefined` when the definition is unusable. Every problem has then been reported. */
export type UpstreamCompiler = (
  definition: UpstreamDefinition, settings: CompiledSettings, report: ReportProblem
) => UpstreamDependency | undefined

/** One upstream, for operators. */
export interface UpstreamFacts {
  readonly name: string
  /** The URL. `undefined` if settings that it needs are missing. */
  readonly url: string | undefined
  readonly auth: UpstreamAuth['type']
  /** The file of the definition. */
  readonly file: string
}

/** @param all those that could be compiled. */
export function toUpstreamFacts (
  { definition, file }: Located<UpstreamDefinition>, all: ReadonlyArray<Compiled<UpstreamDependency>>
): UpstreamFacts {
  const url = all.find(({ compiled }) => compiled.definition === definition)?.compiled.url
  return { name: definition.name, url, auth: definition.auth.type, file }
}

/**
 * Throws if the definition is no upstream, or was unknown when the catalog was loaded.
 * @param allowed all upstreams by default.
 */
export function findUpstream (
  { dependencies }: Pick<SharedValues, 'dependencies'>, definition: UpstreamDefinition,
  allowed: readonly UpstreamDefinition[] | undefined
): OpenUpstream {
  if (kindOf(definition) !== 'upstream') throw new TypeError('fetch: the first argument must be an upstream')
  if (allowed?.includes(definition) === false) {
    throw new TypeError(`fetch: ${definition.name} is not in the field upstreams of this definition`)
  }
  const dependency = dependencies?.get(definition)
  if (dependency === undefined) throw unknownDefinition(`upstream ${JSON.stringify(definition.name)}`)
  // `open` of this definition has returned it.
  return dependency.value as OpenUpstream
}
