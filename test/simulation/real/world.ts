// The world of a run with real processes: its time is that of the machine, and passes faster.

import { setTimeout as pause } from 'node:timers/promises'
import { Process, Violation } from '../world.ts'

/** How many milliseconds of a plan pass in one millisecond. */
export const SPEED = 5

export class RealWorld {
  readonly trace: string[] = []
  readonly #begin = Date.now()
  /** When the event was that is read, in milliseconds since the epoch. */
  eventAt: number | undefined
  violation: Violation | undefined
  /** The replica whose notes are read. */
  current = new Process('client', '')

  /** Milliseconds of the plan. */
  get now (): number { return ((this.eventAt ?? Date.now()) - this.#begin) * SPEED }

  createProcess (name: string): Process { return new Process(name, '') }

  note (text: string): void { this.trace.push(`${Math.round(this.now)} ${this.current.name} ${text}`) }

  fail (problem: string): void {
    this.note(`VIOLATION ${problem}`)
    this.violation ??= new Violation(problem)
  }

  async pause (_: Process, ms: number): Promise<void> { await pause(ms / SPEED) }
}
