// One of the numbered places of a parent's workers. A worker that ends makes room for another one.

import cluster, { type Worker } from 'node:cluster'
import { timers, clock } from '../../base/time.ts'
import { pauseAfter } from '../../base/retry.ts'
import { Link, type LinkHandlers } from './link.ts'

/** The pauses before a worker is started again. */
const PAUSES = { firstMs: 200, maxMs: 30_000 }
/** A worker that has served for this time did not fail at its start. In milliseconds. */
const STEADY_MS = 10_000
/**
 * How long a worker may take to report, in milliseconds: longer than a command to a store that hangs, so that
 * the report names the store. The worker that asked the parent waits longer than this, so that it gets the
 * reports of the others while one hangs.
 */
const REPORT_MS = 1600
/** How often a worker must show that its event loop turns. In milliseconds. */
const CHECK_MS = 5000
/** After this many checks without an answer the worker is ended: other workers would hide that it hangs. */
const MAX_SILENT_CHECKS = 6

/** How a process ended. */
export interface Exit {
  /** `null` if a signal ended it. */
  readonly code: number | null
  readonly signal: string | null
  readonly hasServed: boolean
}

const NOT_RUN: Exit = { code: 0, signal: null, hasServed: false }

export interface SlotLog {
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

/** What a worker is told. Each one makes those before it needless. */
interface Order {
  readonly name: 'reload' | 'unready' | 'stop'
  readonly value: unknown
}

interface SlotOptions {
  readonly number: number
  /** Added to those of the parent. */
  readonly variables: { readonly [variable: string]: string | undefined }
  readonly handlers: LinkHandlers
  readonly log: SlotLog
  /** Passes on what the worker writes. Resolves at the end of its output. */
  relay (worker: Worker): Promise<unknown>
  onReady (): void
  /** Whether another worker shall take the place. */
  mayRestart (exit: Exit, failures: number): boolean
  /** Called when the worker has ended. */
  onEnded (): void
}

/** How long output may come after the end of a worker whose own children still have its streams. */
const LAST_OUTPUT_MS = 500

export class WorkerSlot {
  readonly #options: SlotOptions
  /** Aborts when the slot is stopped. */
  readonly #stopping = new AbortController()
  #worker: Worker | undefined
  #link: Link | undefined
  /** Whether the worker gets what it is told. */
  #isListening = false
  #readyAt: number | undefined
  /** The last order, for a worker that listens later. */
  #order: Order | undefined
  #running: Promise<Exit> | undefined

  constructor (options: SlotOptions) {
    this.#options = options
  }

  get number (): number { return this.#options.number }
  /** Whether the worker serves. */
  get isReady (): boolean { return this.#readyAt !== undefined }

  /** Keeps a worker running until the slot is stopped. Resolves to the last end. A stopped slot runs none. */
  async run (): Promise<Exit> {
    this.#running ??= this.#run()
    return await this.#running
  }

  /**
   * Tells the worker at once, or as soon as it listens: Node drops messages that come before, because
   * node:cluster has a listener of its own from the start.
   */
  tell (name: Order['name'], value?: unknown): void {
    this.#order = { name, value }
    if (this.#isListening) this.#tellOrder()
  }

  /** Rejects if there is no worker, or no answer in time. */
  async ask (name: string): Promise<unknown> {
    if (this.#link === undefined) throw new Error('the worker has ended')
    const link = this.#link
    const answer = await link.ask(name, { limitMs: REPORT_MS })
    // The answer of a worker that has ended may come late.
    if (link !== this.#link) throw new Error('the worker has ended')
    return answer
  }

  /**
   * Tells the worker to stop. Resolves when it has ended: to its exit code, or to 0 if it did not serve. A
   * worker that fails to start has nothing to lose.
   */
  async stop (order: object): Promise<number> {
    this.#stopping.abort()
    this.tell('stop', order)
    const { code, signal, hasServed } = await (this.#running ?? NOT_RUN)
    if (!hasServed) return 0
    return code ?? (signal === 'SIGKILL' ? 1 : 0)
  }

  /** Ends the worker at once. */
  kill (): void { this.#worker?.process.kill('SIGKILL') }

  async #run (): Promise<Exit> {
    const { number: worker, log, mayRestart } = this.#options
    const { signal } = this.#stopping
    if (signal.aborted) return NOT_RUN
    for (let failures = 0; ; failures++) {
      const exit = await this.#runOnce(() => { failures = -1 })
      if (signal.aborted || !mayRestart(exit, failures)) return exit
      const pauseMs = Math.round(pauseAfter(Math.max(failures, 0), PAUSES))
      const { code, signal: killedBy } = exit
      log.warn({ worker, code, signal: killedBy, pauseMs }, 'a worker has ended: another one takes its place')
      await timers.pause(pauseMs, { signal }).catch(() => {})
      if (signal.aborted) return NOT_RUN
    }
  }

  /** @param onSteady called if the worker has served for a time. */
  async #runOnce (onSteady: () => void): Promise<Exit> {
    const { variables, handlers, relay, onReady, onEnded } = this.#options
    const worker = cluster.fork(variables)
    const link = new Link((message) => {
      // A worker that has ended gets no messages: that is no error here.
      if (worker.isConnected()) worker.send(message, () => {})
    }, new Map([
      ...handlers,
      ['listening', () => {
        if (link !== this.#link) return
        this.#isListening = true
        this.#tellOrder()
      }],
      ['ready', () => {
        // The messages of a worker that has ended may come late.
        if (link !== this.#link) return
        this.#readyAt = clock.monotonic()
        onReady()
      }]
    ]))
    this.#worker = worker
    this.#link = link
    worker.on('message', (message: unknown) => link.receive(message))
    const output = relay(worker)
    const stopChecking = this.#check(worker, link)
    const end = await new Promise<Pick<Exit, 'code' | 'signal'>>((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }))
      // The system had no process for it.
      worker.on('error', () => { if (worker.process.pid === undefined) resolve({ code: 1, signal: null }) })
    })
    const exit = { ...end, hasServed: this.isReady }
    if (clock.monotonic() - (this.#readyAt ?? Infinity) >= STEADY_MS) onSteady()
    stopChecking()
    this.#worker = this.#link = this.#readyAt = undefined
    this.#isListening = false
    onEnded()
    await Promise.race([output, timers.pause(LAST_OUTPUT_MS)])
    return exit
  }

  #tellOrder (): void {
    const order = this.#order
    if (order === undefined) return
    this.#link?.tell(order.name, order.value)
    // The next worker loads the files of its own start.
    if (order.name === 'reload') this.#order = undefined
  }

  /** Ends a worker that serves and has hung. Returns a function that ends the checks. */
  #check (worker: Worker, link: Link): () => void {
    let silentChecks = 0
    const timer = timers.setInterval(() => {
      if (!this.isReady) return
      link.ask('alive').then(() => { silentChecks = 0 }, () => {
        if (++silentChecks < MAX_SILENT_CHECKS || link !== this.#link) return
        this.#options.log.error({ worker: this.number }, 'a worker does not answer, and is killed')
        worker.process.kill('SIGKILL')
      })
    }, CHECK_MS).unref()
    return () => timers.clear(timer)
  }
}
