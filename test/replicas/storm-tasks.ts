// Tasks of both releases: begins them, answers their questions, and keeps how they ended.

import { setTimeout as pause } from 'node:timers/promises'
import type { StormClient } from './storm-client.ts'
import type { Failure } from './storm-losses.ts'

/** `work_next` is a tool of the second release only. `remind` asks beside its sleeps. */
const TOOLS = ['work', 'work_next', 'remind'] as const
const STEPS = ['one', 'two', 'three']
/** The keys of the questions of each tool. */
const QUESTIONS = { work: ['go'], work_next: ['go'], remind: ['go', 'beside', 'now', 'later'] }
const LOOK_EVERY_MS = 500
/** A user thinks this long at most, in milliseconds: the handler may run again meanwhile. */
const MAX_THINKING_MS = 2500

interface OpenTask {
  readonly tool: typeof TOOLS[number]
  /** The argument `task`. */
  readonly name: string
  /** The ids of the answers that were sent, by the names of the questions. */
  readonly sent: Map<string, string>
  /** Those that were acknowledged. */
  readonly acknowledged: Set<string>
  /** When its last question was open, or when it was begun, by `performance.now()`. */
  runsSince: number
}

export class TaskLedger {
  readonly #client: StormClient
  /** By the id of the task. */
  readonly #open = new Map<string, OpenTask>()
  readonly #answering = new Set<Promise<void>>()
  readonly failed: Failure[] = []
  /** By the argument `task`: the values of its steps, in order. */
  readonly results = new Map<string, readonly string[]>()
  readonly begun = { work: 0, work_next: 0, remind: 0 }
  /** How many answers were acknowledged. */
  answers = 0
  /** The acknowledged answers that no handler got: it has another one, or the question came again. */
  readonly dropped: string[] = []

  constructor (client: StormClient) {
    this.#client = client
  }

  /** The ids of the tasks that have not ended. */
  get open (): readonly string[] { return [...this.#open.keys()] }

  async begin (number: number): Promise<void> {
    const tool = TOOLS[number % TOOLS.length] ?? 'work'
    const runsSince = performance.now()
    const { taskId, name } = await this.#client.begin(tool)
    this.begun[tool]++
    this.#open.set(taskId, { tool, name, sent: new Map(), acknowledged: new Set(), runsSince })
    await pause(LOOK_EVERY_MS)
  }

  /** Answers the questions of all tasks until the storm is over and all have ended, at most for this time. */
  async follow (calm: AbortSignal, endMs: number): Promise<void> {
    let end = Infinity
    while (performance.now() < end && !(calm.aborted && this.#open.size === 0)) {
      await Promise.all([...this.#open].map(async ([taskId, task]) => await this.#look(taskId, task)))
      await pause(LOOK_EVERY_MS)
      if (calm.aborted) end = Math.min(end, performance.now() + endMs)
    }
    await Promise.all(this.#answering)
  }

  /** The tasks whose results have other values than the notes of their steps. */
  findWrong (notes: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
    return [...this.results].filter(([name, values]) => {
      const expected = STEPS.flatMap((key) => [...notes.get(`${name} ${key}`) ?? []])
      return values.length !== STEPS.length || values.join() !== expected.join()
    }).map(([name]) => name)
  }

  async #look (taskId: string, open: OpenTask): Promise<void> {
    const acknowledged = new Set(open.acknowledged)
    const askedAt = performance.now()
    const { result: task, error } = await this.#client.ask('tasks/get', { taskId })
    if (task?.status === 'input_required') {
      open.runsSince = askedAt
      for (const name of Object.keys(task.inputRequests)) this.#see(taskId, open, name, acknowledged)
    }
    if (task?.status === 'working' || task?.status === 'input_required') return
    this.#open.delete(taskId)
    const { values, answers } = task?.result?.structuredContent ?? {}
    if (task?.status !== 'completed') {
      const { runsSince } = open
      this.failed.push({ task: task ?? { taskId, error }, runsSince, endedAt: performance.now() })
    } else {
      this.results.set(open.name, values)
      this.#check(taskId, open, answers)
    }
  }

  /** @param acknowledged what was acknowledged before the task was read. */
  #see (taskId: string, open: OpenTask, name: string, acknowledged: ReadonlySet<string>): void {
    if (acknowledged.has(keyOf(name))) this.dropped.push(`${name} of ${taskId} was asked again`)
    if (open.sent.has(name)) return
    open.sent.set(name, crypto.randomUUID())
    const answering = this.#answer(taskId, open, name).finally(() => this.#answering.delete(answering))
    this.#answering.add(answering)
  }

  async #answer (taskId: string, { sent, acknowledged }: OpenTask, name: string): Promise<void> {
    await pause(MAX_THINKING_MS * Math.random())
    const response = { action: 'accept', content: { by: sent.get(name) } }
    const inputResponses = { [name]: response }
    const { result } = await this.#client.ask('tasks/update', { taskId, inputResponses })
    if (result === undefined) return
    this.answers++
    acknowledged.add(keyOf(name))
  }

  /** Each question of a task has one answer, which was sent once, or again with the same id. */
  #check (taskId: string, { tool, sent }: OpenTask, answers: { readonly [key: string]: string } = {}): void {
    for (const key of QUESTIONS[tool]) {
      if (answers[key] !== sent.get(key)) {
        this.dropped.push(`${key} of ${taskId} has ${answers[key]} in place of ${sent.get(key)}`)
      }
    }
  }
}

/** The key of a question in its handler. */
const keyOf = (name: string): string => name.replace(/ \(\d+\)$/, '')

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
