// What a load says in the log: which files it passes over, and which primitives need scopes.

import type { WhenMissing } from '../../../platform/author/common-options.ts'
import type { CatalogChange } from './catalog-change.ts'
import type { PassedOver } from '../../compiled/contents.ts'
import type { DependencyLog } from '../../compiled/dependencies/opened-dependency.ts'
import type { Problem } from '../../compiled/problem.ts'
import type { Snapshot } from '../../compiled/snapshot.ts'

/** The service's log. */
export type CatalogLog = DependencyLog

/** The most files or primitives that one line of the log names. */
const MAX_NAMES = 50

/** Names the first, and counts the others. */
export function clipNames (names: readonly string[], max = MAX_NAMES): string[] {
  const note = names.length > max ? [`and ${names.length - max} more`] : []
  return [...names.slice(0, max), ...note]
}

export function namesOfLists ({ lists }: CatalogChange): readonly string[] {
  return lists.map(({ list }) => list)
}

/** Logs the files of the first load, and again those of a load that passes over others. */
export function createPassedOverLog (
  catalog: string, log: Pick<CatalogLog, 'info'>
): (passedOver: readonly PassedOver[]) => void {
  let lastFiles = ''
  return (passedOver) => {
    const files = passedOver.map(({ file, reason }) => `${file} ${reason}`)
    if (files.join('\n') === lastFiles) return
    lastFiles = files.join('\n')
    if (files.length === 0) return
    log.info({ catalog, files: clipNames(files) }, 'files of the catalog are passed over')
  }
}

/** Logs the problems of the first load, and again those of a load with others. */
export function createLeftOutLog (
  catalog: string, log: Pick<CatalogLog, 'warn'>
): (leftOut: readonly Problem[]) => void {
  let last = '[]'
  return (problems) => {
    const text = JSON.stringify(problems)
    if (text === last) return
    last = text
    if (problems.length > 0) log.warn({ catalog, problems }, 'skills with problems are left out')
  }
}

/** Without authentication no caller has a scope: nobody could use these primitives. */
export function logScopedPrimitives (
  { primitives: { tools, prompts, resources, templates } }: Snapshot, log: Pick<CatalogLog, 'info'>
): void {
  const scoped = [tools, prompts, resources, templates].flat().filter(({ scopes }) => scopes.length > 0)
  const namesOf = (rule: WhenMissing) =>
    scoped.filter(({ whenMissing }) => whenMissing === rule).map(({ key }) => key)
  const [hidden, challenged] = [namesOf('hide'), namesOf('challenge')]
  if (hidden.length > 0) {
    log.info({ names: clipNames(hidden) }, 'offered only to callers with the scopes that they need')
  }
  if (challenged.length > 0) {
    const message = 'offered to all callers, but used only with the scopes that they need'
    log.info({ names: clipNames(challenged) }, message)
  }
}
