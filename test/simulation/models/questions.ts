// The model of questions and answers: a handler gets the answer that was acknowledged first, once and for
// ever, and a question that has one is open no more.

import type { ModelWorld } from '../world.ts'
import type { Job, SentAnswer, TaskView } from './job.ts'
import { TERMINAL, type SeenRecords } from './records.ts'

export class Questions {
  readonly #world: ModelWorld
  readonly #records: SeenRecords
  #count = 0
  /** How many answers were acknowledged. */
  acknowledged = 0

  constructor (world: ModelWorld, records: SeenRecords) {
    this.#world = world
    this.#records = records
  }

  /** Returns an answer to send, with an id of its own. @param by the id, if it has none of its own. */
  send (
    job: Job, name: string,
    { isFit = true, isAllowed = true, by = `answer-${this.#count++}`, scopes }: Partial<SentAnswer>
  ): SentAnswer {
    const answer = { name, by, sentAt: this.#world.now, isFit, isAllowed, scopes }
    job.sent.push(answer)
    return answer
  }

  /** Notes that these were acknowledged together, and checks that the task has them. */
  acknowledge (job: Job, answers: readonly SentAnswer[]): void {
    const record = this.#records.durableOf(job)
    for (const answer of answers) {
      answer.ackedAt = this.#world.now
      this.acknowledged++
      if (record === undefined || TERMINAL.has(record.status)) continue
      if (record.questions[answer.name]?.isAnswered !== true) {
        this.#fail(job, answer, 'was acknowledged, and is not in the record')
      }
    }
  }

  /** Whether the record has this answer: then its sender is the last who had access. */
  isTaken (job: Job, { name, by }: SentAnswer): boolean {
    const text = this.#records.durableOf(job)?.answers[keyOf(name)]
    return text !== undefined && text.includes(`"${by}"`)
  }

  /** Checks the answer that a handler got, or that a result has. */
  get (job: Job, key: string, by: string): void {
    const before = job.given.get(key)
    if (before !== undefined && before !== by) {
      this.#world.fail(`the answer to ${key} of ${job.name} was ${before}, and is ${by}`)
    }
    job.given.set(key, by)
    // A model declines all questions that are open, also those that it was not told of.
    if (by === 'decline' && job.sent.some((answer) => answer.by === by)) return
    const same = job.sent.filter((answer) => answer.by === by && keyOf(answer.name) === key && answer.isFit)
    if (!same.some(({ isAllowed }) => isAllowed)) {
      this.#world.fail(`${job.name} has an answer to ${key} that nobody gave: ${by}`)
    }
    const isFirst = same.some(({ name, sentAt }) => !job.sent.some((other) => (
      other.name === name && other.by !== by && isCertain(other) && (other.ackedAt ?? Infinity) < sentAt
    )))
    if (!isFirst) this.#world.fail(`${job.name} has ${by} for ${key}, and another answer was acknowledged before`)
  }

  /** Checks the open questions that a client was told of. @param since when it had asked for them. */
  see (job: Job, { inputRequests = {} }: Pick<TaskView, 'inputRequests'>, since: number): void {
    for (const name of Object.keys(inputRequests)) {
      const answer = job.sent.find((one) => (
        keyOf(one.name) === keyOf(name) && isCertain(one) && (one.ackedAt ?? Infinity) < since &&
          // An answer that does not fit may have been the first: the handler then asks again.
          !job.sent.some((other) => keyOf(other.name) === keyOf(name) && !other.isFit)
      ))
      if (answer !== undefined) this.#fail(job, answer, `was acknowledged, and the question is open as ${name}`)
    }
  }

  #fail (job: Job, { by, name }: SentAnswer, what: string): void {
    this.#world.fail(`the answer ${by} to ${name} of ${job.name} ${what}`)
  }
}

/** Whether its question has an answer once it is acknowledged: this one, or one that came before. */
function isCertain ({ isFit, isAllowed }: SentAnswer): boolean { return isFit && isAllowed }

/** The key of a question in its handler. */
const keyOf = (name: string): string => name.replace(/ \(\d+\)$/, '')
