// The bytes of a task's record in the store. Releases beside each other read each other's.

import { taskNotReadable } from '../../../platform/protocol/errors.ts'
import { isFailureJson } from '../../../request/questions/step-results.ts'
import type { TaskOrigin, TaskRecord } from './record.ts'

/**
 * The form of the records of this release. Add one when an earlier release would misread a record. All forms
 * begin with one line of JSON that has the member `form`.
 */
export const FORM = 3

/** Returns the form of a record. Earlier releases would not ask what the model of the client passes on. */
export function formOf ({ relayed }: Pick<TaskOrigin, 'relayed'>): number {
  return relayed === undefined ? 2 : FORM
}

/** The members that records of earlier releases lack. */
const EARLIER_RELEASE = {
  form: 1, toolScopes: [], generation: 0, mark: '', isCalled: true, losses: 0, order: [], mayUndo: false
}

/**
 * Writes the head as JSON on one line. The result follows as it is: it is JSON already. The failures of steps
 * are apart from their results: a release without them would take a failure for a result.
 */
export function toTaskBytes ({ result = '', ...head }: TaskRecord): Buffer {
  const entries = Object.entries(head.results)
  const failures = entries.filter(([, json]) => isFailureJson(json))
  const results = entries.filter(([, json]) => !isFailureJson(json))
  const apart = failures.length === 0
    ? head
    : { ...head, results: Object.fromEntries(results), failures: Object.fromEntries(failures) }
  return Buffer.from(`${JSON.stringify(apart)}\n${result}`)
}

/** Reads the records of earlier releases too. Throws a TaskNotReadable for those of later ones. */
export function readTaskBytes (bytes: Buffer): TaskRecord {
  const end = bytes.indexOf('\n')
  const text = bytes.toString('utf8', 0, end)
  const { failures, ...parsed } = JSON.parse(text)
  const results = failures === undefined ? parsed.results : { ...failures, ...parsed.results }
  const head: Omit<TaskRecord, 'result'> = { ...EARLIER_RELEASE, ...parsed, results }
  if (head.form > FORM) throw taskNotReadable()
  return end + 1 === bytes.length ? head : { ...head, result: bytes.toString('utf8', end + 1) }
}
