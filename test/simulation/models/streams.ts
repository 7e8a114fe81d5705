// The model of streams that follow a task: each is told of the end, and of nothing else after it.

import type { MessageSink } from '../../../src/platform/store/changes/message-sink.ts'
import type { Job, TaskView } from './job.ts'
import type { Jobs } from './jobs.ts'
import type { ModelWorld, Process } from '../world.ts'

const TERMINAL = new Set(['completed', 'failed', 'cancelled'])

/** One open stream. */
interface Stream {
  readonly job: Job
  /** The replica that serves it. */
  readonly process: Process
  /** The last status that it was told. */
  told?: string
  /** How far the handler was, as it was told, and how many failovers there were until then. */
  progress: Job['progress']
  isClosed: boolean
}

export class Streams {
  readonly #world: ModelWorld
  readonly #jobs: Jobs
  readonly #all: Stream[] = []

  constructor (world: ModelWorld, jobs: Jobs) {
    this.#world = world
    this.#jobs = jobs
  }

  /** Call it in an event of the replica. */
  open (job: Job): MessageSink {
    const stream: Stream = {
      job, process: this.#world.current, isClosed: false, progress: { at: -1, failovers: 0 }
    }
    const listeners: Array<(isComplete: boolean) => void> = []
    const close = (isComplete: boolean) => {
      stream.isClosed = true
      for (const listener of listeners) listener(isComplete)
    }
    this.#all.push(stream)
    return {
      send: (json) => { if (!stream.process.isDead) this.#take(stream, json) },
      keepAlive () {},
      end: () => close(true),
      cut: () => close(false),
      isBlocked: false,
      onDrain () {},
      onClose: (listener) => { listeners.push(listener) }
    }
  }

  /** Checks that each stream of a replica that lives was told of the end of its task. */
  check (): void {
    for (const { job, process, told = 'nothing', isClosed } of this.#all) {
      if (isClosed || process.isDead || TERMINAL.has(told) || this.#jobs.isGone(job)) continue
      this.#world.fail(`a stream at ${process.name} was told ${told} of ${job.name}, which has ended`)
    }
  }

  #take (stream: Stream, json: string): void {
    const { method, params }: { method: string, params: TaskView } = JSON.parse(json)
    if (method !== 'notifications/tasks') return
    const { job, told = '' } = stream
    this.#world.note(`tells a stream that ${job.name} is ${params.status}`)
    if (TERMINAL.has(told) && told !== params.status) {
      this.#world.fail(`a stream was told that ${job.name} is ${told}, and then ${params.status}`)
    }
    stream.told = params.status
    const { progress: { at, failovers } } = stream
    // A read that was on its way may tell of an earlier time.
    this.#jobs.see(job, params, { at: -Infinity, end: undefined, progress: at, failovers })
    stream.progress = this.#jobs.progressOf(params) ?? stream.progress
  }
}
