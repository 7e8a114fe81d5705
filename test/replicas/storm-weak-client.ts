// A client whose token lacks the scope of the tasks of its own subject. To it they must not exist.

import { setTimeout as pause } from 'node:timers/promises'
import type { Message } from '../helpers/request.ts'
import type { StormClient } from './storm-client.ts'

const UNKNOWN = 'task_0000000000000000000000'
const DECLINE = { action: 'decline' }
/** The questions of all tasks. */
const QUESTIONS = ['go', 'beside', 'now', 'later', 'upload']
const METHODS: ReadonlyArray<readonly [method: string, params: object]> = [
  ['tasks/get', {}],
  ['tasks/update', {
    inputResponses: Object.fromEntries(QUESTIONS.map((name) => [name, DECLINE]))
  }],
  ['tasks/cancel', {}]
]
const REST_MS = 50

export class WeakClient {
  refusals = 0
  /** Answers that differ from those for a task that does not exist. */
  readonly leaked: Message[] = []
  readonly #client: StormClient

  constructor (client: StormClient) {
    this.#client = client
  }

  /** Visits the open tasks again and again until the signal aborts. */
  async poll (open: () => readonly string[], signal: AbortSignal): Promise<void> {
    const refusals = (await this.#visit(UNKNOWN)).map((answer) => JSON.stringify(answer))
    if (!refusals.every((refusal) => refusal.includes('Task not found'))) throw new Error(refusals.join())
    while (!signal.aborted) {
      for (const taskId of open()) {
        for (const [index, answer] of (await this.#visit(taskId)).entries()) {
          if (JSON.stringify(answer) === refusals[index]) this.refusals++
          else this.leaked.push({ taskId, method: METHODS[index]?.[0], answer })
        }
      }
      await pause(REST_MS)
    }
  }

  async #visit (taskId: string): Promise<Message[]> {
    return await Promise.all(METHODS.map(
      async ([method, params]) => await this.#client.ask(method, { taskId, ...params })
    ))
  }
}
