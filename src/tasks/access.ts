// What callers may do with their tasks. A task of another caller looks like an unknown task.

import type { Principal } from '../access/principal.ts'
import { taskAnswersTooLarge, unknownTask } from '../protocol/errors.ts'
import { isTerminal } from '../protocol/tasks.ts'
import { endTask, type TaskEndDependencies } from './end.ts'
import { MAX_STATE_BYTES, stateBytes } from './journal.ts'
import { openQuestions, toDetailedTask, type TaskRecord } from './record.ts'
import type { StoredTask, TaskKey } from './records.ts'
import type { TaskRunner } from './runner.ts'

type AnswerChange = Pick<TaskRecord, 'questions' | 'answers'>

/** All methods reject with the error for an unknown task if the principal has no such task. */
export class TaskAccess {
  readonly #dependencies: TaskEndDependencies
  readonly #runner: TaskRunner

  constructor (dependencies: TaskEndDependencies, runner: TaskRunner) {
    this.#dependencies = dependencies
    this.#runner = runner
  }

  /** Resolves to the task with the details of its status, as members of a JSON object. */
  async get (principal: Principal, id: string): Promise<string> {
    const { key, record } = await this.#find(principal, id)
    return toDetailedTask(key.id, record, this.#dependencies.now())
  }

  /**
   * Keeps the answers to open questions, and ignores all others. The handler runs again once no question is
   * open.
   */
  async update (
    principal: Principal, id: string, responses: { readonly [key: string]: unknown }
  ): Promise<void> {
    for (;;) {
      const { key, ...stored } = await this.#find(principal, id)
      const change = toChange(stored.record, responses)
      if (change === undefined || await this.#keepAnswers(key, stored, change)) return
    }
  }

  /** Does nothing if the task has ended. */
  async cancel (principal: Principal, id: string): Promise<void> {
    for (;;) {
      const { key, ...stored } = await this.#find(principal, id)
      if (isTerminal(stored.record.status)) return
      const change = { status: 'cancelled', statusMessage: undefined } as const
      if (await endTask(this.#dependencies, key, stored, change)) return
    }
  }

  async #find (principal: Principal, id: string): Promise<StoredTask & { readonly key: TaskKey }> {
    const { records } = this.#dependencies
    const key = records.keyOf(principal, id)
    const stored = key && await records.read(key)
    if (key === undefined || stored === undefined) throw unknownTask()
    return { key, ...stored }
  }

  /** Resolves to whether the record was unchanged since it was read. */
  async #keepAnswers (key: TaskKey, stored: StoredTask, change: AnswerChange): Promise<boolean> {
    const { records, now, setDue, leaseMs } = this.#dependencies
    const { record, version } = stored
    if (openQuestions({ ...record, ...change }).length > 0) {
      return await records.replace(key, version, { ...record, ...change, updatedAt: now() }) !== undefined
    }
    // The due time comes first: a running task without one would be lost with its replica.
    if (this.#runner.isTaking) {
      await setDue(key, leaseMs)
      return await this.#runner.resume(key, stored, change)
    }
    await setDue(key, 0)
    const next: TaskRecord = { ...record, ...change, status: 'working', wakesAt: now(), updatedAt: now() }
    return await records.replace(key, version, next) !== undefined
  }
}

/** Returns `undefined` if no response answers an open question. */
function toChange (
  record: TaskRecord, responses: { readonly [key: string]: unknown }
): AnswerChange | undefined {
  if (record.status !== 'input_required') return undefined
  const answered = openQuestions(record).filter(([name]) => Object.hasOwn(responses, name))
  if (answered.length === 0) return undefined
  const questions = answered.map(([name, question]) => [name, { ...question, isAnswered: true }] as const)
  const answers = answered.map(([name, { key }]) => [key, JSON.stringify(responses[name])] as const)
  const change = {
    questions: { ...record.questions, ...Object.fromEntries(questions) },
    answers: { ...record.answers, ...Object.fromEntries(answers) }
  }
  const state = { answers: toMap(change.answers), results: toMap(record.results) }
  if (stateBytes(state) > MAX_STATE_BYTES) throw taskAnswersTooLarge(MAX_STATE_BYTES)
  return change
}

function toMap (texts: { readonly [key: string]: string }): Map<string, string> {
  return new Map(Object.entries(texts))
}
