// https://modelcontextprotocol.io/specification/2026-07-28/server/discover

import { createResultWriter } from '../../catalog/compiled/results/result-json.ts'
import { toExtensions, toPublicVersion, type Snapshot } from '../../catalog/compiled/snapshot.ts'
import { toServerCapabilities } from '../../platform/protocol/capabilities.ts'
import { META_CATALOG_VERSION } from '../../platform/protocol/envelope.ts'
import type { ListName } from '../../platform/protocol/notifications.ts'
import { CURRENT_REVISION, SUPPORTED_REVISIONS } from '../../platform/protocol/revisions.ts'
import { Type } from '../../platform/schema/type.ts'
import { defineMethod, type Method } from '../pipeline/method.ts'

export interface DiscoverDependencies {
  /** The lists that can change while the service runs. */
  readonly changingLists: ReadonlySet<ListName>
}

export function serverDiscover ({ changingLists }: DiscoverDependencies): Method {
  const results = new WeakMap<Snapshot, string>()

  function serialise (snapshot: Snapshot): string {
    const { server: { info, instructions, listTtlMs, openCacheScope } } = snapshot
    const capabilities = {
      ...toServerCapabilities(changingLists), ...toExtensions(snapshot, CURRENT_REVISION)
    }
    const members = JSON.stringify({
      supportedVersions: SUPPORTED_REVISIONS, capabilities, instructions
    }).slice(1, -1)
    const cache = { ttlMs: listTtlMs, cacheScope: openCacheScope }
    const meta = { [META_CATALOG_VERSION]: toPublicVersion(snapshot) }
    return createResultWriter(info).writeCacheable(members, cache, meta)
  }

  return defineMethod({
    name: 'server/discover',
    eras: ['modern'],
    params: Type.Object({}),
    open: (_, { snapshot }) => ({
      handle () {
        const earlier = results.get(snapshot)
        if (earlier !== undefined) return earlier
        const result = serialise(snapshot)
        results.set(snapshot, result)
        return result
      }
    })
  })
}
