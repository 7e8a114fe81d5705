// What the callers of tasks may do with them. A task of another caller does not exist.

import type { Principal } from '../access/principal.ts'
import { taskAnswersTooLarge, unknownTask } from '../protocol/errors.ts'
import { isTerminal } from '../protocol/tasks.ts'
import { endTask, type TaskEndDependencies } from './task-end.ts'
import { openQuestions, toDetailedTask, type TaskRecord } from './task-record.ts'
import type { StoredTask, TaskKey } from './task-records.ts'
import type { TaskRunner } from './task-runner.ts'
import { MAX_STATE_BYTES, stateBytes } from './task-sizes.ts'

interface TaskAccessDependencies extends TaskEndDependencies {
  readonly runner: TaskRunner
}

/** All methods reject with the error for an unknown task if the principal has no such task. */
export interface TaskAccess {
  /** Resolves to the task with the details of its status, as the members of a JSON object. */
  get (principal: Principal, id: string): Promise<string>
  /**
   * Keeps the answers to open questions, and ignores all others. The handler runs again once no question is
   * open.
   */
  update (principal: Principal, id: string, responses: { readonly [key: string]: unknown }): Promise<void>
  /** Does nothing if the task has ended. */
  cancel (principal: Principal, id: string): Promise<void>
}

export function createTaskAccess (dependencies: TaskAccessDependencies): TaskAccess {
  const { records, runner, leaseMs, now, setDue } = dependencies

  async function find (principal: Principal, id: string): Promise<StoredTask & { readonly key: TaskKey }> {
    const key = records.keyOf(principal, id)
    const stored = key && await records.read(key)
    if (key === undefined || stored === undefined) throw unknownTask()
    return { key, ...stored }
  }

  /** Resolves to whether the record was still the one that was read. */
  async function keepAnswers (key: TaskKey, stored: StoredTask, change: AnswerChange): Promise<boolean> {
    const { record, version } = stored
    if (openQuestions({ ...record, ...change }).length > 0) {
      return await records.replace(key, version, { ...record, ...change, updatedAt: now() }) !== undefined
    }
    // Before the record says that the task runs: a task without a time would be lost.
    if (runner.isTaking) {
      await setDue(key, leaseMs)
      return await runner.resume(key, stored, change)
    }
    await setDue(key, 0)
    const next: TaskRecord = { ...record, ...change, status: 'working', wakesAt: now(), updatedAt: now() }
    return await records.replace(key, version, next) !== undefined
  }

  return {
    async get (principal, id) {
      const { key, record } = await find(principal, id)
      return toDetailedTask(key.id, record, now())
    },
    async update (principal, id, responses) {
      for (;;) {
        const { key, ...stored } = await find(principal, id)
        const change = toChange(stored.record, responses)
        if (change === undefined || await keepAnswers(key, stored, change)) return
      }
    },
    async cancel (principal, id) {
      for (;;) {
        const { key, ...stored } = await find(principal, id)
        if (isTerminal(stored.record.status)) return
        const change = { status: 'cancelled', statusMessage: undefined } as const
        if (await endTask(dependencies, key, stored, change)) return
      }
    }
  }
}

type AnswerChange = Pick<TaskRecord, 'questions' | 'answers'>

/** `undefined` if no response answers an open question. */
function toChange (
  record: TaskRecord, responses: { readonly [key: string]: unknown }
): AnswerChange | undefined {
  if (record.status !== 'input_required') return undefined
  const answered = openQuestions(record).filter(([shown]) => Object.hasOwn(responses, shown))
  if (answered.length === 0) return undefined
  const questions = answered.map(([shown, question]) => [shown, { ...question, isAnswered: true }] as const)
  const answers = answered.map(([shown, { key }]) => [key, JSON.stringify(responses[shown])] as const)
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
