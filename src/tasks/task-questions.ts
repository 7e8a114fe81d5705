// The questions of a task, by the keys that its client sees. A client may ignore a key that it knows, so no
// key names two questions in the life of a task.

import type { TaskRecord } from './task-record.ts'

type Questions = TaskRecord['questions']

/**
 * The questions so far. Those that the handler has asked now are open, all others are not.
 * @param asked the input requests, by the keys of `ctx.ask`.
 */
export function addQuestions (before: Questions, asked: ReadonlyMap<string, string>): Questions {
  const questions = new Map(Object.entries(before).map(([shown, question]) => {
    const isStillAsked = !question.isAnswered && asked.get(question.key) === question.json
    // Only its key is needed then.
    return [shown, isStillAsked ? question : { ...question, json: '', isAnswered: true }]
  }))
  const open = new Set([...questions.values()].flatMap(({ key, isAnswered }) => isAnswered ? [] : [key]))
  for (const [key, json] of asked) {
    if (open.has(key)) continue
    let shown = key
    for (let number = 2; questions.has(shown); number++) shown = `${key} (${number})`
    questions.set(shown, { key, json, isAnswered: false })
  }
  return Object.fromEntries(questions)
}
