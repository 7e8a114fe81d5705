// The calls of upstreams that one request makes. They end with it.

import type {
  AbortCall, ActsAs, UpstreamCaller, UpstreamLog, UpstreamSpan
} from '../../catalog/compiled/upstreams/open-upstream.ts'
import type { Sender } from '../../platform/limits/holder.ts'
import type { Lifetime } from './lifetime.ts'
import type { UpstreamUse } from './observer.ts'
import type { RequestTrace } from './request-tracer.ts'

interface CallingRequest {
  readonly caller: Sender
  readonly lifetime: Lifetime
  readonly log: UpstreamLog
  /** Replaced when the request is answered and its work goes on. */
  readonly observed: {
    readonly startedAt: number
    readonly trace: RequestTrace | undefined
    upstreams: Map<string, UpstreamUse> | undefined
  }
}

export class UpstreamCalls implements UpstreamCaller {
  readonly #request: CallingRequest
  readonly #running = new Set<AbortCall>()

  constructor (request: CallingRequest) {
    this.#request = request
    request.lifetime.onStop((reason) => this.#abortAll(reason))
    request.lifetime.onEnd(() => this.#abortAll(undefined))
  }

  get sender (): Sender { return this.#request.caller }
  get log (): UpstreamLog { return this.#request.log }
  get leftMs (): number { return this.#request.lifetime.leftMs(this.#request.observed.startedAt) }

  begin (abort: AbortCall): () => void {
    const { lifetime } = this.#request
    lifetime.throwIfStopped()
    if (lifetime.isOver) throw new Error('fetch: the request has ended; await every call in the handler')
    this.#running.add(abort)
    return () => this.#running.delete(abort)
  }

  note (upstream: string, as: ActsAs, hasFailed: boolean): void {
    const { observed } = this.#request
    observed.upstreams ??= new Map<string, UpstreamUse>()
    const use = observed.upstreams.get(upstream) ?? { as, calls: 0, failed: 0 }
    const { calls, failed } = use
    observed.upstreams.set(upstream, { as, calls: calls + 1, failed: failed + Number(hasFailed) })
  }

  span (method: string, upstream: string, host: string): UpstreamSpan | undefined {
    return this.#request.observed.trace?.upstream(method, upstream, host)
  }

  #abortAll (reason: Error | undefined): void {
    for (const abort of this.#running) abort(reason)
  }
}
