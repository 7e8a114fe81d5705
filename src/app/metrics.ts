// Opens the metrics of a service that has an admin address.

import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import type { ServicePart } from '../edges/http/readiness.ts'
import type { OpenStreams } from '../platform/limits/open-streams.ts'
import type { ServedTasks } from '../request/pipeline/served-tasks.ts'
import type { ServedMetrics, ServedShedding } from './features.ts'
import type { ProcessFacts } from './own-process.ts'
import type { OpenedState } from './state.ts'

interface MeasuredParts {
  readonly openStreams: OpenStreams
  readonly shedding: ServedShedding | undefined
  readonly storePart: { check (): Promise<ServicePart> }
  readonly tasks: ServedTasks | undefined
}

export async function openMetrics (
  { backend: { broadcast }, live, upstreams, signIn }: OpenedState, { build }: ProcessFacts,
  { openStreams, storePart, ...parts }: MeasuredParts
): Promise<ServedMetrics | undefined> {
  if (build === undefined) return undefined
  // Imported only here: the library takes time to load.
  const { createMetrics } = await import('../features/metrics/metrics.ts')
  const metrics = createMetrics({
    ...parts,
    build,
    openStreams: () => openStreams.size,
    isStoreReady: async () => (await storePart.check()).ready,
    isBroadcastReady: () => broadcast.isConnected,
    signIns: signIn?.outcomes,
    upstreamCalls: () => upstreams?.running ?? {},
    catalog: () => ({ ...toFacts(live.catalog.current), reloads: live.reloads })
  })
  if (upstreams !== undefined) upstreams.onCall = metrics.observeUpstreamCall
  return metrics
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
