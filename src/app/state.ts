// Opens the state: the backend of the settings, the sealer with the secrets, and the catalog.

import type { FastifyBaseLogger } from 'fastify'
import type { CallerTokens } from '../platform/access/caller-tokens.ts'
import { type Lifecycle, StartError } from '../base/lifecycle.ts'
import type { Clock } from '../base/time.ts'
import { messageOf } from '../base/words.ts'
import type { Catalog } from '../catalog/compiled/catalog.ts'
import type { LoadGuard } from '../catalog/compiled/load-guard.ts'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import type { UpstreamCompiler } from '../catalog/compiled/upstreams/upstream-dependency.ts'
import { openCatalogFolder } from '../catalog/folder/catalog-folder.ts'
import { assertReadable, assertLayout } from '../catalog/folder/catalog-layout.ts'
import { readEmptyContents } from '../catalog/folder/empty-contents.ts'
import { createSettingReader, type Variables } from '../catalog/folder/environment-settings.ts'
import { openLiveCatalog, type LiveCatalog, type LoadObserver } from '../catalog/folder/live/live-catalog.ts'
import { CheckedPart } from '../edges/http/readiness.ts'
import { READ_MORE_OPTIONS } from '../features/remainders/read-more-tool.ts'
import { TASK_OPTIONS } from '../features/tasks/tasks.ts'
import { partOf, withinHeap } from '../platform/limits/limits.ts'
import { failConfig, type ServiceConfig } from '../ops/config/config.ts'
import type { OpenedBackend } from '../platform/store/backends/backend.ts'
import { openBackend, toPlace } from '../platform/store/backends/url-schemes.ts'
import type { Broadcast } from '../platform/store/changes/broadcast.ts'
import { EVENT_LOG_LIMITS } from '../platform/store/changes/event-log.ts'
import { StoreUnavailable } from '../platform/store/records/state-store.ts'
import { createSealer, type Sealer } from '../platform/store/sealing/sealer.ts'
import type { ServedDesk, ServedSignIn, ServedUpstreams } from './features.ts'
import type { TestedParts } from './own-process.ts'
import { openUpstreams } from './upstreams.ts'

/** What every part of a service may need. */
export interface ServiceBasis {
  readonly config: ServiceConfig
  readonly environment: Variables
  readonly log: FastifyBaseLogger
  readonly clock: Clock
  readonly guard: LoadGuard
  /** Whether requests without a token are served. */
  readonly admitsAnonymous: boolean
  /** The tokens of callers. Absent if a program that embeds the service finds the principals itself. */
  readonly tokens: CallerTokens | undefined
  readonly signIn?: ServedSignIn | undefined
  readonly desk: ServedDesk | undefined
  readonly loadObserver: LoadObserver | undefined
  /** Whether a catalog that does not load at the start is waited for, where its files are watched. */
  readonly isForAuthor: boolean
}

export interface OpenedState extends ServiceBasis {
  readonly backend: OpenedBackend
  readonly sealer: Sealer
  readonly live: LiveCatalog
  readonly catalog: Catalog
  readonly upstreams: ServedUpstreams | undefined
}

/**
 * Rejects with a ConfigError, or with a CatalogError if the catalog does not load.
 * @param tested what a test of a catalog gives to the service.
 */
export async function openServiceState (
  basis: ServiceBasis, lifecycle: Lifecycle, tested: TestedParts
): Promise<OpenedState> {
  const backend = await lifecycle.open(openStateBackend(basis, lifecycle.signal))
  const { upstreams }: { readonly upstreams?: ServedUpstreams } = {
    upstreams: openUpstreams({ ...basis, ...tested })
  }
  const live = await lifecycle.open(
    openServedCatalog(basis, backend.broadcast, upstreams?.compile, lifecycle.signal)
  )
  // A start that fails because of the catalog leaves no file with a secret behind.
  const sealer = openSealer(basis, backend)
  upstreams?.signWith(sealer)
  return { ...basis, backend, sealer, live, catalog: live.catalog, upstreams }
}

async function openStateBackend (
  { config: { stateUrl, statePrefix, workerCount }, log, clock }: ServiceBasis, signal: AbortSignal
): Promise<OpenedBackend> {
  const eventLogLimits = { ...EVENT_LOG_LIMITS, maxBytes: partOf('loggedBytes', workerCount) }
  const options = { log, prefix: statePrefix, clock, signal, eventLogLimits }
  return await openBackend(stateUrl, options).catch(failConfig)
}

/** Throws a ConfigError if the secret that the backend keeps cannot be read. */
function openSealer ({ config: { secrets }, log, clock }: ServiceBasis, backend: OpenedBackend): Sealer {
  return createSealer(secrets.length > 0 ? secrets : readKeptSecrets(backend, log), {
    ...clock,
    onEphemeral: () => log.warn(
      'TRIVET_SECRETS is not set: sessions, questions to clients, tasks, and links to files are lost when ' +
        'this process ends'
    )
  })
}

/** Returns `undefined` if no secret outlives the process. */
function readKeptSecrets (backend: OpenedBackend, log: FastifyBaseLogger): readonly string[] | undefined {
  try {
    const keptSecret = backend.readKeptSecret?.()
    if (keptSecret === undefined) return undefined
    log.info({ file: keptSecret.file }, 'TRIVET_SECRETS is not set: the secret in this file is used')
    return [keptSecret.secret]
  } catch (error) {
    return failConfig(error)
  }
}

/**
 * Rejects with a CatalogError if the catalog does not load.
 * @param signal ends the load when it aborts.
 */
async function openServedCatalog (
  { config, environment, log, guard, clock, admitsAnonymous, loadObserver, isForAuthor }: ServiceBasis,
  broadcast: Broadcast, compileUpstream: UpstreamCompiler | undefined, signal: AbortSignal
): Promise<LiveCatalog> {
  const { catalog, maxResourceBytes, watch, pageSize, workerCount } = config
  await assertLayout(catalog)
  // Imported here and not at the top, because index.ts imports app.ts.
  const trivet = await import('../index.ts')
  const openCacheScope = admitsAnonymous ? 'public' : 'private'
  // What is kept of files may have an eighth of the heap.
  const maxUnchangedBytes = withinHeap(partOf('unchangedFileBytes', workerCount), 8)
  const source = openCatalogFolder(catalog, {
    maxResourceBytes, maxUnchangedBytes, watchMode: watch, trivet, openCacheScope
  })
  await assertReadable(source.name)
  const options = {
    ...clock,
    pageSize,
    readSetting: createSettingReader(environment),
    compileUpstream,
    hasTasks: false,
    ...TASK_OPTIONS,
    ...READ_MORE_OPTIONS,
    loadComparison: async () => (await import('../catalog/contracts/changes.ts')).createComparison,
    signal,
    observer: loadObserver,
    readSubstitute: isForAuthor && watch !== 'off'
      ? async () => await readEmptyContents(source.name, openCacheScope)
      : undefined
  }
  return await openLiveCatalog(source, broadcast, log, options, guard)
}

/** Returns the dependencies of the snapshot that have a check. */
export function toCheckedParts ({ dependencies }: Snapshot): CheckedPart[] {
  return (dependencies?.all ?? []).filter(({ isChecked }) => isChecked).map((dependency) => {
    return new CheckedPart(`dependency ${dependency.compiled.name}`, async () => await dependency.check())
  })
}

/** Says why the state ends the start: it opened, but answers too slowly or not at all. */
export function failStart (stateUrl: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof StoreUnavailable)) throw error
    const [place, cause] = [toPlace(stateUrl), messageOf(error.cause)]
    const problem = `The state of TRIVET_STATE_URL at ${place} failed during the start: ${cause}`
    throw new StartError(problem, { cause: error })
  }
}
