// Problems and advice of the last load, and the primitives that they are about.

import { computed } from '@preact/signals'
import { consoleState, type FileProblem } from '../connection/console-state.ts'

export interface FileReport {
  readonly problems: readonly FileProblem[]
  readonly advice: readonly FileProblem[]
  readonly hosts: readonly FileProblem[]
}

const failure = computed(() => consoleState.value?.catalog.failure)
const advice = computed(() => consoleState.value?.catalog.advice)
const hosts = computed(() => consoleState.value?.catalog.hosts)

/** What the last load says of each file. */
const reportByFile = computed(() => {
  const reports = new Map<string, { [K in keyof FileReport]: FileProblem[] }>()
  const reportOf = (file: string) => {
    const report = reports.get(file) ?? { problems: [], advice: [], hosts: [] }
    reports.set(file, report)
    return report
  }
  for (const problem of failure.value?.problems ?? []) reportOf(problem.file).problems.push(problem)
  for (const hint of advice.value ?? []) reportOf(hint.file).advice.push(hint)
  for (const habit of hosts.value ?? []) reportOf(habit.file).hosts.push(habit)
  return reports
})

/** Returns what the last load says of the file of a primitive. */
export function reportOf (key: string): FileReport | undefined {
  const file = consoleState.value?.files[key]
  return file === undefined ? undefined : reportByFile.value.get(file)
}
