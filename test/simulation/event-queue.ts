// The events of a simulation, by time. Events of one time happen in the order in which they were added.

import type { Process } from './world.ts'

export interface QueuedEvent {
  at: number
  order: number
  readonly owner: Process
  /** `undefined` once the event is cancelled. */
  run: (() => void) | undefined
}

/** A binary heap. */
export class EventQueue {
  readonly #heap: QueuedEvent[] = []
  #added = 0

  get size (): number { return this.#heap.length }

  add (event: Omit<QueuedEvent, 'order'>): QueuedEvent {
    const queued = Object.assign(event, { order: this.#added++ })
    let index = this.#heap.push(queued) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#isSooner(index, parent)) break
      this.#swap(index, parent)
      index = parent
    }
    return queued
  }

  /** The time of the next event. */
  get nextAt (): number { return this.#heap[0]?.at ?? Infinity }

  take (): QueuedEvent | undefined {
    const [first] = this.#heap
    const last = this.#heap.pop()
    if (first === undefined || last === undefined || first === last) return first
    this.#heap[0] = last
    for (let index = 0; ;) {
      const left = 2 * index + 1
      const sooner = this.#isSooner(left + 1, left) ? left + 1 : left
      if (!this.#isSooner(sooner, index)) return first
      this.#swap(sooner, index)
      index = sooner
    }
  }

  #isSooner (index: number, other: number): boolean {
    const [a, b] = [this.#heap[index], this.#heap[other]]
    if (a === undefined || b === undefined) return a !== undefined
    return a.at < b.at || (a.at === b.at && a.order < b.order)
  }

  #swap (index: number, other: number): void {
    const [a, b] = [this.#heap[index], this.#heap[other]]
    if (a === undefined || b === undefined) return
    this.#heap[index] = b
    this.#heap[other] = a
  }
}
