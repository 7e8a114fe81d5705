// https://modelcontextprotocol.io/specification/2026-07-28/server/discover

import { Type } from 'typebox'
import { createResultWriter } from '../catalog/result-json.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import { defineMethod, type Method } from '../dispatch/method.ts'
import { toServerCapabilities } from '../protocol/capabilities.ts'
import { SUPPORTED_REVISIONS } from '../protocol/revisions.ts'
import { createParamsReader } from '../schema/params.ts'

export interface DiscoverOptions {
  /** Whether the catalog can change while the service runs. */
  readonly isWatching: boolean
}

export function serverDiscover ({ isWatching }: DiscoverOptions): Method {
  const capabilities = toServerCapabilities(isWatching)
  const results = new WeakMap<Snapshot, string>()

  function serialise ({ server: { info, instructions, listTtlMs } }: Snapshot): string {
    const own = JSON.stringify({ supportedVersions: SUPPORTED_REVISIONS, capabilities, instructions }).slice(1, -1)
    return createResultWriter(info).writeCacheable(own, { ttlMs: listTtlMs, cacheScope: 'public' })
  }

  return defineMethod({
    name: 'server/discover',
    readParams: createParamsReader(Type.Object({})),
    handle (_, { snapshot }) {
      const known = results.get(snapshot)
      if (known !== undefined) return known
      const result = serialise(snapshot)
      results.set(snapshot, result)
      return result
    }
  })
}
