// Tasks of both releases: begins them, answers their questions, and keeps how they ended.

import { setTimeout as pause } from 'node:timers/promises'
import type { Message } from '../helpers/request.ts'
import type { StormClient } from './storm-client.ts'

/** The second is a tool of the second release only. */
const TOOLS = ['work', 'work_next'] as const
const STEPS = ['one', 'two', 'three']
const LOOK_EVERY_MS = 500
/** What the questions are answered with. The result of the task has it. */
const ANSWER = { action: 'accept', content: { by: 'strong' } }

export class TaskLedger {
  readonly #client: StormClient
  /** The argument `task`, by the id of the task. */
  readonly #open = new Map<string, string>()
  readonly failed: Message[] = []
  /** By the argument `task`: the values of its steps, in order. */
  readonly results = new Map<string, readonly string[]>()
  readonly begun = { work: 0, work_next: 0 }

  constructor (client: StormClient) {
    this.#client = client
  }

  /** The ids of the tasks that have not ended. */
  get open (): readonly string[] { return [...this.#open.keys()] }

  async begin (number: number): Promise<void> {
    const tool = TOOLS[number % TOOLS.length] ?? 'work'
    const { taskId, name } = await this.#client.begin(tool)
    this.begun[tool]++
    this.#open.set(taskId, name)
    await pause(LOOK_EVERY_MS)
  }

  /** Answers the questions of all tasks until the storm is over and all have ended, at most for this time. */
  async follow (calm: AbortSignal, endMs: number): Promise<void> {
    let end = Infinity
    while (performance.now() < end && !(calm.aborted && this.#open.size === 0)) {
      await Promise.all([...this.#open].map(async ([taskId, name]) => await this.#look(taskId, name)))
      await pause(LOOK_EVERY_MS)
      if (calm.aborted) end = Math.min(end, performance.now() + endMs)
    }
  }

  /** The tasks whose results have other values than the notes of their steps. */
  findWrong (notes: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
    return [...this.results].filter(([name, values]) => {
      const expected = STEPS.flatMap((key) => [...notes.get(`${name} ${key}`) ?? []])
      return values.length !== STEPS.length || values.join() !== expected.join()
    }).map(([name]) => name)
  }

  async #look (taskId: string, name: string): Promise<void> {
    const { result: task, error } = await this.#client.ask('tasks/get', { taskId })
    if (task?.status === 'input_required') {
      const keys = Object.keys(task.inputRequests)
      const inputResponses = Object.fromEntries(keys.map((key) => [key, ANSWER]))
      await this.#client.ask('tasks/update', { taskId, inputResponses })
    }
    if (task?.status === 'working' || task?.status === 'input_required') return
    this.#open.delete(taskId)
    const { values, by } = task?.result?.structuredContent ?? {}
    if (task?.status === 'completed' && by === ANSWER.content.by) this.results.set(name, values)
    else this.failed.push(task ?? { taskId, error })
  }
}

/** The values that each step returned to any run, by task and key. */
export function toValues (notes: string): Map<string, Set<string>> {
  const values = new Map<string, Set<string>>()
  for (const line of notes.trim().split('\n')) {
    const [task = '', key = '', value = ''] = line.split(' ')
    const name = `${task} ${key}`
    values.set(name, (values.get(name) ?? new Set()).add(value))
  }
  return values
}
