// Opens the metrics, and the app of the admin address.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import type { LiveCatalog, Reloads } from '../catalog/folder/live/live-catalog.ts'
import { createAdminApp } from '../http/admin-app.ts'
import type { CheckedPart, Readiness, ServicePart } from '../http/readiness.ts'
import type { OpenStreams } from '../limits/open-streams.ts'
import type { Metrics } from '../ops/metrics/metrics.ts'
import type { MetricSources } from '../ops/metrics/service-metrics.ts'
import type { Shedding } from '../ops/overload/shedding.ts'
import type { OpenedBackend } from '../store/backends/backend.ts'

export type Build = MetricSources['build']

interface MeteringDependencies {
  readonly build: Build
  readonly openStreams: OpenStreams
  readonly shedding: Shedding
  readonly storePart: CheckedPart
  readonly backend: Pick<OpenedBackend, 'broadcast'>
  readonly live: LiveCatalog
}

export interface Metering extends Pick<Metrics, 'observer' | 'countHandle' | 'countLimitHit'> {
  /** Builds the app of the admin address. It does not listen. */
  createApp (log: FastifyBaseLogger, readiness: Readiness): FastifyInstance
}

export async function openMetering (
  { build, openStreams, shedding, storePart, backend: { broadcast }, live }: MeteringDependencies
): Promise<Metering> {
  // Imported only when the service has an admin address: the library takes time to load.
  const { createMetrics } = await import('../ops/metrics/metrics.ts')
  const metrics = createMetrics({
    build,
    openStreams: () => openStreams.size,
    shedding,
    isStoreReady: () => storePart.wasReady,
    isBroadcastReady: () => broadcast.isConnected,
    catalog: () => ({ ...toFacts(live.catalog.current), reloads: live.reloads })
  })
  return {
    observer: metrics.observer,
    countHandle: metrics.countHandle,
    countLimitHit: metrics.countLimitHit,
    createApp: (log, readiness) => createAdminApp({
      log,
      metrics,
      readiness: {
        parts: async () => [...await readiness.parts(), describeCatalog(live.catalog.current, live.reloads)]
      }
    })
  }
}

function toFacts ({ version, primitives: { tools, prompts, listed, templates, skills } }: Snapshot) {
  const sizes = {
    tool: tools.length,
    prompt: prompts.length,
    resource: listed.length,
    resource_template: templates.length,
    skill: skills.length
  }
  return { version, sizes }
}

/** Ready in any case: while a reload fails, the catalog before it is served. */
function describeCatalog ({ version }: Snapshot, { failure }: Reloads): ServicePart {
  const part = { name: 'catalog', ready: true, version }
  if (failure === undefined) return part
  const { at, problem } = failure
  return { ...part, lastReload: { failedAt: new Date(at).toISOString(), ...problem } }
}
