// One replica as a process of the built service. It can be killed, stopped for a while, and started again.

import { launch } from '../../helpers/service.ts'
import type { Process } from '../world.ts'

const START_DEADLINE_MS = 30_000

export class RealReplica {
  readonly process: Process
  readonly url: string
  readonly pid: number
  readonly #launched: ReturnType<typeof launch>

  private constructor (process: Process, url: string, launched: ReturnType<typeof launch>) {
    this.process = process
    this.url = url
    this.#launched = launched
    this.pid = launched.child.pid ?? 0
  }

  /** Resolves when it serves. @param onExit called when it ends, whatever ends it. */
  static async start (
    process: Process, environment: { readonly [name: string]: string }, onExit: () => void
  ): Promise<RealReplica> {
    const launched = launch(environment)
    launched.exited.then(() => {
      process.isDead = true
      onExit()
    }, () => {})
    const url = `http://127.0.0.1:${environment.PORT}`
    const end = performance.now() + START_DEADLINE_MS
    while (!await serves(url)) {
      if (process.isDead || performance.now() > end) {
        throw new Error(`a replica does not start: ${launched.stdout()}${launched.stderr()}`)
      }
    }
    return new RealReplica(process, `${url}/mcp`, launched)
  }

  get output (): string { return `${this.#launched.stdout()}${this.#launched.stderr()}` }

  /** Resolves when it has ended. */
  async end (signal: NodeJS.Signals): Promise<void> {
    this.#launched.child.kill(signal)
    // One that is stopped gets a signal when it goes on.
    this.#launched.child.kill('SIGCONT')
    await this.#launched.exited
  }

  signal (signal: NodeJS.Signals): void { this.#launched.child.kill(signal) }
}

async function serves (url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/livez`, { signal: AbortSignal.timeout(1000) })).ok
  } catch {
    await new Promise((resolve) => { setTimeout(resolve, 50) })
    return false
  }
}
