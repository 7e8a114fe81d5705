// The workers of a parent: starts them, stops them one after the other, and gathers what they report.

import type { Worker } from 'node:cluster'
import { StartError } from '../../base/lifecycle.ts'
import { clock, timers } from '../../base/time.ts'
import { messageOf } from '../../base/words.ts'
import type { HealthReport } from '../../edges/http/readiness.ts'
import type { AddedMetrics, MetricValues } from '../../features/metrics/added-metrics.ts'
import { WorkerSlot, type Exit, type SlotLog } from './worker-slot.ts'
import { isHealthReport, toRoleVariables } from './worker.ts'

/**
 * How often the first worker may be killed before it serves. An exit code of its own ends the start at once:
 * it is a problem that the operator can remove.
 */
const MAX_KILLED_STARTS = 5

interface GroupOptions {
  readonly count: number
  /** Whether the log is for people. */
  readonly isForPeople: boolean
  /** The environment of a worker, beside that of the parent. */
  readonly variables: { readonly [variable: string]: string | undefined }
  readonly log: SlotLog
  readonly drainMs: number
  readonly shutdownTimeoutMs: number
  relay (worker: Worker): Promise<unknown>
}

export class WorkerGroup {
  readonly #options: GroupOptions
  readonly #slots: readonly WorkerSlot[]
  /** Whether a worker has ever served. */
  #hasServed = false
  #isStopping = false
  #replaced = 0
  #metrics: Promise<AddedMetrics> | undefined

  constructor (options: GroupOptions) {
    this.#options = options
    this.#slots = Array.from({ length: options.count }, (_, index) => this.#createSlot(index + 1))
  }

  /**
   * Starts one worker, and the others when it serves: a problem is then told once. Resolves when it serves,
   * or to its end if it never does. Rejects if signals ended it each time: it could not say why.
   */
  async start (): Promise<Exit | undefined> {
    const [first, ...followers] = this.#slots
    const served = new Promise<undefined>((resolve) => {
      this.#onServed = () => {
        if (!this.#isStopping) for (const slot of followers) slot.run()
        resolve(undefined)
      }
    })
    const exit = await Promise.race([served, first?.run()])
    if (exit?.signal == null || this.#isStopping) return exit
    throw new StartError(`${exit.signal} ended the first worker ${MAX_KILLED_STARTS + 1} times before it ` +
      'served. SIGKILL is often the system\'s: compare the memory limit of the container with what ' +
      'the service needs, and TRIVET_WORKERS with its memory. Other signals are of a crash or a supervisor')
  }

  reload (): void {
    for (const slot of this.#slots) slot.tell('reload')
  }

  /**
   * Stops all workers. After SIGTERM they stop one after the other, and each next one begins in time: all
   * requests may take as long as those of one process. Resolves to the exit code.
   */
  async stop (signal: string | undefined): Promise<number> {
    this.#isStopping = true
    const { drainMs, shutdownTimeoutMs } = this.#options
    const isDrained = signal === 'SIGTERM'
    if (isDrained) {
      for (const slot of this.#slots) slot.tell('unready')
      if (this.#hasServed) await timers.pause(drainMs)
    }
    const begunAt = clock.monotonic()
    const partMs = shutdownTimeoutMs / this.#slots.length
    const stops: Array<Promise<number>> = []
    for (const [index, slot] of this.#slots.entries()) {
      const elapsedMs = clock.monotonic() - begunAt
      const stop = slot.stop({ signal, timeoutMs: Math.max(0, Math.round(shutdownTimeoutMs - elapsedMs)) })
      stops.push(stop)
      const restMs = Math.max(0, (index + 1) * partMs - elapsedMs)
      if (isDrained) await Promise.race([stop, timers.pause(restMs, { ref: false })])
    }
    return Math.max(...await Promise.all(stops))
  }

  /** Ends all workers at once. */
  kill (): void {
    for (const slot of this.#slots) slot.kill()
  }

  #onServed = (): void => {}

  #createSlot (number: number): WorkerSlot {
    const { count, isForPeople, variables, log, relay } = this.#options
    return new WorkerSlot({
      number,
      variables: { ...variables, ...toRoleVariables({ number, count, isForPeople }) },
      log,
      relay,
      handlers: new Map<string, () => Promise<unknown>>([
        ['metrics', async () => await this.#addMetrics()],
        ['health', async () => await this.#gatherHealth()]
      ]),
      onReady: () => {
        if (!this.#hasServed) this.#onServed()
        this.#hasServed = true
      },
      mayRestart: ({ signal }, failures) => {
        const mayRestart = this.#hasServed || (signal !== null && failures < MAX_KILLED_STARTS)
        if (mayRestart) this.#replaced++
        return mayRestart
      },
      onEnded: () => { this.#metrics?.then((metrics) => metrics.keep(number)) }
    })
  }

  async #addMetrics (): Promise<string> {
    this.#metrics ??= import('../../features/metrics/added-metrics.ts').then(({ createAddedMetrics }) => (
      createAddedMetrics({ countReady: () => this.#ready.length, countReplaced: () => this.#replaced })
    ))
    const metrics = await this.#metrics
    // Noted at once: a worker may end, and another one take its place, while the others are waited for.
    await Promise.all(this.#ready.map(async (slot) => {
      const values = await slot.ask('metrics').catch(() => undefined)
      if (isMetricValues(values)) metrics.note(slot.number, values)
    }))
    return await metrics.add()
  }

  get #ready (): readonly WorkerSlot[] { return this.#slots.filter(({ isReady }) => isReady) }

  async #gatherHealth (): Promise<HealthReport> {
    const reports = await Promise.all(this.#slots.map(async (slot): Promise<HealthReport> => {
      try {
        if (!slot.isReady) throw new Error('it is being started')
        const report = await slot.ask('health')
        if (isHealthReport(report)) return report
        throw new Error('it sent no report')
      } catch (error) {
        return { ready: false, parts: [{ name: 'process', ready: false, reason: messageOf(error) }] }
      }
    }))
    return {
      ready: reports.some(({ ready }) => ready),
      parts: reports.flatMap(({ parts }, index) => parts.map((part) => ({ worker: index + 1, ...part })))
    }
  }
}

function isMetricValues (value: unknown): value is MetricValues {
  return Array.isArray(value)
}
