// A task, as a test of a catalog uses it.

import { timers } from '../../base/time.ts'
import type { TaskStatus } from '../../platform/protocol/tasks.ts'
import { RequestError } from './exchange.ts'
import type { AnswerOptions } from './options.ts'
import type { InputRequestJson, TestAnswer } from './question.ts'
import type { CallResult, ResultsJson } from './results.ts'

/**
 * A task at one moment, as a client sees it.
 * https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#tasks
 */
export interface TestTaskState {
  readonly taskId: string
  readonly status: TaskStatus
  /** The latest progress, or the message of the error. */
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: number
  readonly pollIntervalMs: number
  /** The open questions of an `input_required` task, by the keys of their answers. */
  readonly inputRequests?: { readonly [key: string]: InputRequestJson }
  /** The result of a `completed` task. */
  readonly result?: ResultsJson['tools/call']
  /** The error of a `failed` task. */
  readonly error?: { readonly code: number, readonly message: string, readonly data?: unknown }
}

/**
 * A task that a call has begun. It goes on by itself: `advance` of the catalog ends its sleeps. In a plain
 * host it is a call that the model continues.
 */
export interface TestTask {
  readonly id: string
  /**
   * Resolves to the present state. Rejects with a RequestError once the task has expired, and in a plain
   * host: it has no tasks.
   */
  get (): Promise<TestTaskState>
  /**
   * Answers open questions, by the keys of `inputRequests`. Answers to other questions are ignored. Resolves
   * once the task sleeps, asks again or has ended, and after a second at the latest.
   */
  update (answers: { readonly [key: string]: TestAnswer }): Promise<void>
  cancel (): Promise<void>
  /**
   * Waits for the end, and answers the questions on the way. Rejects with a RequestError if the task fails or
   * is cancelled, and as `call` does for questions and answers. In a plain host a cancelled call ends with
   * `isError`. The result of a task has no reports: progress is its status message.
   */
  result (options?: AnswerOptions): Promise<CallResult>
}

/** What reaches the service: each method of tasks, for the caller of the task. */
export type SendTaskRequest = <T>(method: string, params: object) => Promise<T>

/** Between two looks at a task, in milliseconds. */
const LOOK_MS = 2

/** How a task is followed. */
interface TaskFollowing {
  /** Whether to look as often as the service says. Otherwise a look costs next to nothing. */
  readonly isRemote: boolean
  /** Is told each state that was read. */
  onTask (state: Pick<TestTaskState, 'taskId' | 'status' | 'statusMessage'>): void
  /** Answers questions. */
  answer (requests: { readonly [key: string]: InputRequestJson }): Promise<object>
}

/** Resolves to the result of the task. */
export async function followTask<R> (
  send: SendTaskRequest, taskId: string, { isRemote, onTask, answer }: TaskFollowing
): Promise<R> {
  for (;;) {
    const task = await send<Omit<TestTaskState, 'result'> & { result?: R }>('tasks/get', { taskId })
    onTask(task)
    const { status, result, error, inputRequests, pollIntervalMs } = task
    if (result !== undefined) return result
    if (error !== undefined) throw new RequestError(error)
    if (status === 'cancelled') throw new RequestError({ code: -32603, message: 'The task was cancelled' })
    if (inputRequests !== undefined) {
      await send('tasks/update', { taskId, inputResponses: await answer(inputRequests) })
    }
    await timers.pause(isRemote ? pollIntervalMs : LOOK_MS)
  }
}
