// A dependency that is open: loads that follow one another may share it.

import { createLog, SERVICE_LEVELS } from '../../../platform/author/log.ts'
import { runWithin } from '../../../base/deadline.ts'
import { singleFlight } from '../../../base/single-flight.ts'
import { codeOf, messageOf } from '../../../base/words.ts'
import type { CompiledDependency } from '../definitions/compile-dependency.ts'

const CHECK_TIMEOUT_MS = 3000

type Write = (fields: object, message: string) => void

export type DependencyLog = { readonly [L in typeof SERVICE_LEVELS[keyof typeof SERVICE_LEVELS]]: Write }

/**
 * Opens a dependency, and closes a value that comes too late. Rejects without the values of secrets.
 * @param stop aborts when the service ends
 */
export async function openDependency (
  compiled: CompiledDependency, log: DependencyLog, stop: AbortSignal
): Promise<OpenedDependency> {
  const { name, settings, openTimeoutMs } = compiled
  const dependencyLog = createLog((level, message, data) => {
    log[SERVICE_LEVELS[level]]({ ...data, dependency: name }, message)
  })
  const toOpened = (value: unknown) => new OpenedDependency(compiled, value, log)
  let isLate = false
  try {
    return toOpened(await runWithin(openTimeoutMs, async (signal) => {
      const value = await compiled.open({ settings, log: dependencyLog, signal })
      if (isLate) await toOpened(value).close()
      return value
    }, { stop }))
  } catch (error) {
    isLate = true
    throw new Error(reasonOf(error, compiled))
  }
}

export class OpenedDependency {
  readonly compiled: CompiledDependency
  readonly value: unknown
  readonly #log: DependencyLog
  #loads = 0
  /** Rejects with the reason while the value cannot be used. Calls at the same time share one check. */
  readonly check = singleFlight(async () => {
    try {
      await runWithin(CHECK_TIMEOUT_MS, (signal) => this.compiled.check?.(this.value, { signal }))
    } catch (error) {
      throw new Error(reasonOf(error, this.compiled))
    }
  })

  constructor (compiled: CompiledDependency, value: unknown, log: DependencyLog) {
    this.compiled = compiled
    this.value = value
    this.#log = log
  }

  get isChecked (): boolean { return this.compiled.check !== undefined }

  /** Counts one more load that uses the value. */
  hold (): void { this.#loads++ }

  /** Counts one load less. Resolves when the value is closed, if that was the last load. Never rejects. */
  async release (): Promise<void> {
    if (--this.#loads === 0) await this.close()
  }

  /** Closes the value. Resolves after the time limit too. Never rejects. */
  async close (): Promise<void> {
    const { name, closeTimeoutMs } = this.compiled
    try {
      await runWithin(closeTimeoutMs, () => this.compiled.close(this.value))
    } catch (error) {
      this.#log.error({ dependency: name, reason: reasonOf(error, this.compiled) }, 'dependency not closed')
    }
  }
}

/** Returns the first line of the message without secrets: drivers quote addresses with passwords. */
function reasonOf (error: unknown, { secrets }: CompiledDependency): string {
  const reason = secrets.reduce((text, secret) => text.replaceAll(secret, '(secret)'), textOf(error))
  return reason.split('\n')[0] ?? reason
}

function textOf (error: unknown): string {
  const message = messageOf(error)
  // The error of a connection that was tried on several addresses has only a code.
  return message === '' ? String(codeOf(error) ?? '') : message
}
