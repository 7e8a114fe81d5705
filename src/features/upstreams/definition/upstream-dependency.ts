// Contributes upstreams to catalogs: compiles their definitions, and opens them as dependencies.

import {
  CLOSE_TIMEOUT_MS, OPEN_TIMEOUT_MS
} from '../../../catalog/compiled/definitions/compile-dependency.ts'
import type { OpenUpstream } from '../../../catalog/compiled/upstreams/open-upstream.ts'
import type { UpstreamCompiler } from '../../../catalog/compiled/upstreams/upstream-dependency.ts'
import { compileUpstream, type CompiledUpstream } from './compile-upstream.ts'

/** Opens an upstream when its catalog is loaded. Throws for an `auth` that this service cannot have. */
export type UpstreamOpener = (upstream: CompiledUpstream) => OpenUpstream | Promise<OpenUpstream>

/** @param openUpstream by default none can be opened. */
export function createUpstreamCompiler (openUpstream?: UpstreamOpener): UpstreamCompiler {
  return (definition, settings, report) => {
    const upstream = compileUpstream(definition, settings, report)
    if (upstream === undefined) return undefined
    const { name, url: { href: url }, auth, secrets } = upstream
    return {
      definition,
      // No dependency has a name with a space.
      name: `upstream ${name}`,
      url,
      // A reload that finds other values opens the upstream anew. Everything else is in its module.
      settings: { url, auth },
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
}
