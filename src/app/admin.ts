// Opens the app of the admin address, and what it tells the other workers.

import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import type { Reloads } from '../catalog/folder/live/live-catalog.ts'
import { createAdminApp } from '../edges/admin/admin-app.ts'
import type { Readiness, ServicePart } from '../edges/http/readiness.ts'
import type { ServedTasks } from '../request/pipeline/served-tasks.ts'
import type { ServedAdmin, ServedAudit, ServedMetrics, WorkerReports } from './features.ts'
import type { Workers } from './own-process.ts'
import type { OpenedState } from './state.ts'

interface AdminDependencies {
  readonly metrics: ServedMetrics | undefined
  readonly readiness: Readiness
  readonly tasks: ServedTasks | undefined
  readonly token: string | undefined
  /** The version of Trivet. */
  readonly version: string
  /** Whether requests are traced. */
  readonly isTraced: boolean
  readonly audit: ServedAudit | undefined
  readonly workers: Workers | undefined
}

/** Builds the app of the admin address, which does not listen, and what it tells the other workers. */
export function openAdminApp (
  { log, live }: OpenedState, { metrics, readiness, tasks, audit, workers, ...options }: AdminDependencies
): ServedAdmin {
  const reports: WorkerReports = {
    metrics: async () => await metrics?.values() ?? [],
    async health () {
      const parts = [...await readiness.parts(), describeCatalog(live.catalog.current, live.reloads)]
      return { ready: parts.every(({ ready }) => ready), parts }
    }
  }
  const admin = createAdminApp({
    log,
    metrics: metrics && { contentType: metrics.contentType, text: workers?.metrics ?? metrics.text },
    health: workers?.health ?? reports.health,
    tasks: tasks?.operator,
    ...options,
    onAct (act) {
      const { requestId: reqId, ...facts } = act
      const done = act.action === 'values' ? 'read the values of a task' : 'changed a task'
      if (act.outcome === 'ok') log.info({ ...facts, reqId }, `an operator ${done}`)
      else log.warn({ ...facts, reqId }, 'an operator was refused')
      audit?.noteOperator(act)
    }
  })
  return { admin, reports }
}

/** Ready in any case: while a reload fails, the catalog before it is served. */
function describeCatalog ({ version }: Snapshot, { failure }: Reloads): ServicePart {
  const part = { name: 'catalog', ready: true, version }
  if (failure === undefined) return part
  const { at, problem } = failure
  return { ...part, lastReload: { failedAt: new Date(at).toISOString(), ...problem } }
}
