// Opens an upstream as a dependency: loads that follow one another share its pool, and it is closed when no
// request can call it any more.

import type { UpstreamDefinition } from '../../../platform/author/define-upstream.ts'
import { kindOf } from '../../../platform/author/definition.ts'
import {
  CLOSE_TIMEOUT_MS, OPEN_TIMEOUT_MS, type CompiledDependency
} from '../definitions/compile-dependency.ts'
import { unknownDefinition, type SharedValues } from '../definitions/shared-values.ts'
import type { CompiledUpstream } from './compile-upstream.ts'
import type { OpenUpstream, UpstreamOpener } from './open-upstream.ts'

/** No dependency has a name with a space. */
export function toDependency (
  upstream: CompiledUpstream, openUpstream: UpstreamOpener | undefined
): CompiledDependency {
  const { definition, name, url, auth, secrets } = upstream
  return {
    definition,
    name: `upstream ${name}`,
    // A reload that finds other values opens the upstream anew. Everything else is in its module.
    settings: { url: url.href, auth },
    secrets,
    openTimeoutMs: OPEN_TIMEOUT_MS,
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
    openedBy: 'auth',
    async open () {
      if (openUpstream === undefined) throw new Error('upstreams cannot be called here')
      return await openUpstream(upstream)
    },
    close: async (value) => await (value as OpenUpstream).close()
  }
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
