// The context that a handler of the catalog receives: a narrow interface to its request.

import { ownerOf, type Principal } from '../../platform/access/principal.ts'
import type {
  Context, ReadContext, SleepOptions, StepOptions, UndoContext
} from '../../platform/author/context.ts'
import type { DependencyDefinition } from '../../platform/author/define-dependency.ts'
import type { HandleDefinition } from '../../platform/author/define-handle.ts'
import type { SettingsDefinition } from '../../platform/author/define-settings.ts'
import type { UpstreamDefinition } from '../../platform/author/define-upstream.ts'
import type { Files } from '../../platform/author/files.ts'
import type { Handles } from '../../platform/author/handles.ts'
import type { AnswersOf, InputRequest } from '../../platform/author/input-request.ts'
import { createLog, SERVICE_LEVELS, type Log } from '../../platform/author/log.ts'
import { ToolError } from '../../platform/author/tool-error.ts'
import { isUpstreamOutage } from '../../platform/author/upstream-error.ts'
import type { UpstreamInit } from '../../platform/author/upstream-fetch.ts'
import { timers } from '../../base/time.ts'
import { quote } from '../../base/words.ts'
import type { CompiledPrimitive } from '../../catalog/compiled/compiled-primitive.ts'
import { unknownDefinition } from '../../catalog/compiled/definitions/shared-values.ts'
import { findBytes, readContents, toResourceLink } from './resource-access.ts'
import { toUri } from '../../catalog/compiled/resources/uri.ts'
import type { EmbeddedResource, ResourceContents, ResourceLink } from '../../platform/protocol/content.ts'
import type { FirstAnswers } from '../../platform/store/records/first-answers.ts'
import { isOutage } from '../../platform/store/records/handle-kind.ts'
import type { HandleAccess } from '../../platform/store/records/handles.ts'
import type { InputRound } from '../questions/input-round.ts'
import { checkNumber, checkSleepKey, checkStepOptions, runStep } from '../questions/run-step.ts'
import type { RequestContext } from './request-context.ts'
import type { FileAccess, ResultCutter, TaskStarter, UndoneTask } from './seams.ts'

/** The dependencies of every method that runs a handler of the catalog. */
export interface HandlerDependencies {
  /** The time limit of a handler whose definition sets none. */
  readonly requestTimeoutMs: number
  /** Publishes that a resource changed. */
  readonly announce: Announce
  /** `outdate` has what templates list made again, on every replica. */
  readonly lists: { outdate (): void }
  readonly handles: HandleAccess
  readonly firstAnswers: FirstAnswers
  /** Absent: every call ends with its answer. */
  readonly tasks?: TaskStarter
  /** Absent: results that are too large are refused. */
  readonly cutter?: ResultCutter
  /** Absent: handlers have no `ctx.files`. */
  readonly files?: FileAccess
}

/** @param owner only subscribers with this owner are told. `undefined`: all subscribers. */
type Announce = (uri: string, owner: string | undefined) => void

/** The primitive whose handler has the context. */
type ContextOwner = Pick<CompiledPrimitive, 'upstreams'>

type StepFunction<T> = (signal: AbortSignal) => T | Promise<T>
type StepArguments<T> = [fn: StepFunction<T>] | [options: StepOptions, fn: StepFunction<T>]

/** How many refusals come at once after a request was stopped. Each later one takes REFUSAL_MS. */
const QUICK_REFUSALS = 10
const REFUSAL_MS = 1000
/** A year: beyond the longest ttlMs. */
const MAX_SLEEP_MS = 31_536_000_000
/** A resource that reads itself would otherwise never end. */
const MAX_READ_DEPTH = 8

export class HandlerContext implements Context {
  readonly #request: RequestContext
  readonly #round: InputRound
  #refusals = 0
  readonly #dependencies: HandlerDependencies
  readonly #owner: ContextOwner
  readonly #depth: number

  /** @param depth how many resources are being read below the request: a resource may read others. */
  constructor (
    request: RequestContext, round: InputRound, dependencies: HandlerDependencies, owner: ContextOwner,
    depth = 0
  ) {
    this.#request = request
    this.#round = round
    this.#dependencies = dependencies
    this.#owner = owner
    this.#depth = depth
  }

  get signal (): AbortSignal { return this.#request.lifetime.signal }
  get principal (): Principal { return this.#request.principal }
  get revision (): string { return this.#request.revision }
  get requestId (): string { return this.#request.requestId }
  get meta (): Context['meta'] { return this.#request.meta }

  get client (): Context['client'] {
    const { clientInfo, clientCapabilities } = this.#request.envelope
    return { info: clientInfo, capabilities: clientCapabilities }
  }

  get notify (): Context['notify'] {
    return {
      resourceUpdated: (text, options) => {
        const uri = toUri(text)
        // No client can have subscribed to a text that is not a URI.
        if (uri === undefined) return
        this.#dependencies.announce(uri, options?.private === true ? ownerOf(this.principal) : undefined)
      },
      listChanged: (list) => {
        if (list !== 'resources') {
          throw new TypeError("listChanged: only 'resources' can change while the catalog's files do not")
        }
        this.#dependencies.lists.outdate()
      }
    }
  }

  get log (): Log {
    return createLog((level, message, data) => {
      this.#request.log[SERVICE_LEVELS[level]]({ ...data }, message)
      this.#request.sendLogMessage(level, message, data)
    })
  }

  progress (done: number, total?: number, message?: string): void {
    this.#request.progress(done, total, message)
  }

  disconnectLegacyClient (retryMs = 1000): void {
    this.#request.disconnect(retryMs)
  }

  handles<T> (kind: HandleDefinition<T>): Handles<T> {
    const compiled = this.#request.snapshot.handles.get(kind)
    if (compiled === undefined) throw unknownDefinition(`handle ${JSON.stringify(kind.kind)}`)
    const { createdBy } = compiled
    // An error for an unknown handle must not name a tool that is hidden from the caller.
    const isNamed = createdBy === undefined || this.#request.view.hasTool(createdBy)
    const open = isNamed ? compiled : { ...compiled, createdBy: undefined }
    // Each value is checked against the definition's schema, and `T` is the type of that schema.
    const { caller, observed: { trace } } = this.#request
    const handles = this.#dependencies.handles.open(open, caller, () => this.signal) as Handles<T>
    return trace?.handles(kind.kind, handles) ?? handles
  }

  settings<V> (definition: SettingsDefinition<V>): V {
    return this.#request.settings(definition)
  }

  use<T> (definition: DependencyDefinition<T>): T {
    return this.#request.use(definition)
  }

  fetch (upstream: UpstreamDefinition, path: string, init?: UpstreamInit): Promise<Response> {
    return this.#refusal() ?? quiet(this.#request.fetch(this.#owner, upstream, path, init))
  }

  async span<T> (name: string, fn: () => T | Promise<T>): Promise<T> {
    if (typeof name !== 'string' || name === '') {
      throw new TypeError('span: the name must be a text that is not empty')
    }
    const { trace } = this.#request.observed
    return trace === undefined ? await fn() : await trace.span(name, fn)
  }

  async readResource (uri: string): Promise<readonly ResourceContents[]> {
    const depth = this.#depth + 1
    if (depth > MAX_READ_DEPTH) {
      throw new ToolError(`A resource that reads another may be nested ${MAX_READ_DEPTH} deep, ` +
        `and ${quote(uri)} is deeper. Read it with a request of its own.`)
    }
    return await readContents(this.#request.view, uri, ({ uri: part, resource }) => {
      return new HandlerReadContext(this.#request, this.#round, this.#dependencies, resource, part, depth)
    })
  }

  get files (): Files {
    const [request, round] = [this.#request, this.#round]
    const { files } = this.#dependencies
    if (files === undefined) throw new TypeError('ctx.files: this service keeps no files')
    return files.open({
      sender: request.caller,
      round,
      get signal () { return request.lifetime.signal },
      pauseClock: () => request.lifetime.pauseClock()
    })
  }

  async embedResource (uri: string): Promise<EmbeddedResource | ResourceLink> {
    const link = this.#downloadOf(uri)
    if (link !== undefined) return { ...toResourceLink(this.#request.view, uri), uri: link }
    const [resource] = await this.readResource(uri)
    if (resource === undefined) throw new TypeError('unreachable: a resource has contents')
    return { type: 'resource', resource }
  }

  linkResource (uri: string): ResourceLink {
    const link = toResourceLink(this.#request.view, uri)
    return { ...link, uri: this.#downloadOf(uri) ?? link.uri }
  }

  /** The URL of a resource that is a large file. */
  #downloadOf (uri: string): string | undefined {
    const bytes = findBytes(this.#request.view, uri)
    return bytes && this.#dependencies.files?.linkTo(uri, bytes.size, this.principal)
  }

  ask<const R extends { readonly [key: string]: InputRequest }> (requests: R): Promise<AnswersOf<R>> {
    return this.#refusal() ?? this.#round.ask(requests)
  }

  once<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
    return this.#refusal() ?? this.#round.once(key, () => {
      this.#request.lifetime.throwIfStopped()
      return fn()
    })
  }

  step<T> (key: string, ...work: StepArguments<T>): Promise<T> {
    return this.#refusal() ?? quiet(this.#step(key, ...work))
  }

  sleep (ms: number, { key }: SleepOptions = {}): Promise<void> {
    return this.#refusal() ?? quiet(this.#sleep(ms, key))
  }

  async #step<T> (key: string, ...work: StepArguments<T>): Promise<T> {
    const [options, fn] = work.length === 1 ? [{}, ...work] : work
    checkStepOptions(options)
    const attempt = async (signal: AbortSignal) => {
      this.#request.lifetime.throwIfStopped()
      await this.#round.allowStep?.()
      const release = this.#round.holdStep?.()
      try {
        return await fn(signal)
      } finally {
        release?.()
      }
    }
    const retried = { ...options, isOutage: (error: unknown) => isOutage(error) || isUpstreamOutage(error) }
    return await this.#round.once(key, () => runStep(key, retried, this.signal, attempt))
  }

  async #sleep (ms: number, key: string | undefined): Promise<void> {
    checkNumber('sleep: ms', ms, 0, MAX_SLEEP_MS)
    checkSleepKey(key)
    await this.#round.sleep(ms, key, async (leftMs) => {
      await timers.pause(leftMs, { signal: this.signal })
    })
  }

  /**
   * Returns a rejection if the request was stopped. A handler that catches it and tries again, as one that
   * polls does, must neither keep the process busy nor fill its memory.
   */
  #refusal (): Promise<never> | undefined {
    const { reason } = this.#request.lifetime
    if (reason === undefined) return undefined
    const pauseMs = this.#refusals++ < QUICK_REFUSALS ? 1 : REFUSAL_MS
    return quiet(timers.pause(pauseMs, { ref: false }).then(() => { throw reason }))
  }
}

/** The handler may have stopped waiting for it. */
function quiet<T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

export class HandlerReadContext extends HandlerContext implements ReadContext {
  readonly uri: string

  constructor (
    request: RequestContext, round: InputRound, dependencies: HandlerDependencies, owner: ContextOwner,
    uri: string, depth = 0
  ) {
    super(request, round, dependencies, owner, depth)
    this.uri = uri
  }
}

export class UndoHandlerContext extends HandlerContext implements UndoContext {
  readonly #undone: UndoneTask

  constructor (
    request: RequestContext, round: InputRound, dependencies: HandlerDependencies, owner: ContextOwner,
    undone: UndoneTask
  ) {
    super(request, round, dependencies, owner)
    this.#undone = undone
  }

  /** The author says which type the step returned. */
  resultOf<T> (key: string): T | undefined { return this.#undone.resultOf(key) as T | undefined }
}
