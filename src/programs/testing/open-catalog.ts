// Opens a catalog for a test: the service of production, in this process, without a port.

import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { createService, type Service } from '../../app/app.ts'
import type { UpstreamDefinition } from '../../platform/author/define-upstream.ts'
import { clock } from '../../base/time.ts'
import type { LoadGuard } from '../../catalog/compiled/load-guard.ts'
import { NO_RATE } from '../../platform/limits/rate.ts'
import { ConfigError, waitWithin } from '../../ops/config/config.ts'
import { integer } from '../../ops/config/setting-kinds.ts'
import { CatalogCaller } from './catalog-caller.ts'
import type { TestCatalog } from './catalog.ts'
import { createCauses } from './causes.ts'
import { createExchange, type Exchange, type ExchangeListeners } from './exchange.ts'
import { downloadFile, type TestDownload } from './files.ts'
import { assertCatalogNames } from './known-names.ts'
import type { TestOptions } from './options.ts'
import { StandIns, type TestUpstream } from './upstreams.ts'
import { replay, type ReplayOptions, type ReplayResult } from './replay.ts'

/** What a test cannot choose. */
const FIXED = { watch: 'off', legacy: 'off', stateUrl: 'memory:', publicUrl: 'http://localhost/mcp' } as const

/**
 * Loads a catalog for a test, with its state in memory and its dependencies open. Nothing listens, nothing is
 * watched, and nothing is logged unless the options say so. Works with every test runner.
 *
 * Rejects with a CatalogError that lists every problem of the catalog, and with a ConfigError for an option
 * that is not valid.
 * @param folder relative to the working directory, absolute, or a `file:` URL.
 * https://modelcontextprotocol.io/specification/2026-07-28
 *
 * @example
 * const shop = await openCatalog('./catalog')
 * const { text } = await shop.call('search_books', { query: 'whale' })
 * await shop.close()
 */
export async function openCatalog (folder: string | URL, options: TestOptions = {}): Promise<TestCatalog> {
  assertCatalogNames(options)
  const standIns = new StandIns(options.upstreams ?? {})
  return await openWatchedCatalog(folder, options, { standIns })
}

interface Watching extends ExchangeListeners {
  /** Is told of errors that code of the catalog throws outside every call. */
  readonly guard?: LoadGuard
  /** In place of the upstreams. By default the upstreams are called. */
  readonly standIns?: StandIns
}

/** Tests do not wait as long as hosts do, in milliseconds. */
const WAIT_MS = 1000
const GRACE = integer(0, 60_000)

export async function openWatchedCatalog (
  folder: string | URL, options: TestOptions, { guard, standIns, ...listeners }: Watching = {}
): Promise<TestCatalog> {
  let offset = 0
  const ownClock = { now: () => clock.now() + offset }
  const catalog = typeof folder === 'string' ? folder : fileURLToPath(folder)
  const { settings = {}, taskGraceMs, upstreams: _upstreams, ...appOptions } = options
  if (taskGraceMs !== undefined && !GRACE.accepts(taskGraceMs)) {
    throw new ConfigError([`taskGraceMs must be ${GRACE.form}, got ${inspect(taskGraceMs)}`])
  }
  // Tests answer at once, also for a person.
  const constants = { readingMs: 0, ...taskGraceMs !== undefined && { taskGraceMs } }
  const environment = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, value === undefined ? value : String(value)])
  )
  const causes = createCauses()
  const service = await createService({
    logLevel: 'silent',
    maxCallsPerCaller: NO_RATE,
    taskWaitMs: waitWithin(options.requestTimeoutMs ?? Infinity, WAIT_MS),
    ...appOptions,
    ...FIXED,
    catalog,
    environment,
    constants
  }, guard && { guard }, {
    clock: ownClock, openTransport: standIns?.openTransport, ownObserver: causes.observer
  })
  const exchange = createExchange(service, listeners, causes.find)
  return new OpenedCatalog(service, exchange, { move: (ms) => { offset += ms }, standIns })
}

/** What a test changes. */
interface TestedCatalog {
  /** Moves the clock. */
  move (ms: number): void
  readonly standIns: StandIns | undefined
}

class OpenedCatalog extends CatalogCaller implements TestCatalog {
  readonly #service: Service
  readonly #exchange: Exchange
  readonly #tested: TestedCatalog
  #closing: Promise<void> | undefined

  readonly close = async (): Promise<void> => {
    this.#exchange.close()
    await (this.#closing ??= this.#service.app.close().then(() => {}))
  }

  constructor (service: Service, exchange: Exchange, tested: TestedCatalog) {
    super(exchange)
    this.#service = service
    this.#exchange = exchange
    this.#tested = tested
  }

  advance (ms: number): void {
    if (!(ms >= 0 && ms < Infinity)) {
      throw new RangeError(`advance: ms must be a finite number of at least 0, got ${ms}`)
    }
    this.#tested.move(ms)
    this.#service.tasks?.look()
  }

  upstream (upstream: UpstreamDefinition | string): TestUpstream {
    const { standIns } = this.#tested
    if (standIns === undefined) throw new Error('upstream: the upstreams of this catalog are called')
    return standIns.find(upstream, this.#service.catalog.current.upstreams.map(({ name }) => name))
  }

  async download (link: Parameters<TestCatalog['download']>[0]): Promise<TestDownload> {
    return await downloadFile(this.#service.app, typeof link === 'object' && 'uri' in link ? link.uri : link)
  }

  async replay (recording: unknown, options: ReplayOptions = {}): Promise<ReplayResult> {
    return await replay(this.#service, recording, options)
  }

  async [Symbol.asyncDispose] (): Promise<void> {
    await this.close()
  }
}
