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

/** Tells the items of the first load, and again those of a load with others. */
function whenOthers<T> (tell: (items: readonly T[]) => void): (items: readonly T[]) => void {
  let last = ''
  return (items) => {
    const text = JSON.stringify(items)
    if (items.length > 0 && text !== last) tell(items)
    last = text
  }
}

export function createPassedOverLog (catalog: string, log: Pick<CatalogLog, 'info'>) {
  return whenOthers<PassedOver>((passedOver) => {
    const files = clipNames(passedOver.map(({ file, reason }) => `${file} ${reason}`))
    log.info({ catalog, files }, 'files of the catalog are passed over')
  })
}

export function createLeftOutLog (catalog: string, log: Pick<CatalogLog, 'warn'>) {
  return whenOthers<Problem>((problems) => {
    log.warn({ catalog, problems }, 'skills with problems are left out')
  })
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
