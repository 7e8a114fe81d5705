// Logs which primitives need scopes. Without authentication no caller has one, so nobody could use them.

import type { WhenMissing } from '../../../author/definition.ts'
import type { Snapshot } from '../../compiled/snapshot.ts'
import { toLogged } from './passed-over-log.ts'

export function logScopedPrimitives (
  { primitives: { tools, prompts, resources, templates } }: Snapshot,
  log: { info (fields: object, message: string): void }
): void {
  const scoped = [tools, prompts, resources, templates].flat().filter(({ scopes }) => scopes.length > 0)
  const namesOf = (asked: WhenMissing) =>
    scoped.filter(({ whenMissing }) => whenMissing === asked).map(({ key }) => key)
  const [hidden, challenged] = [namesOf('hide'), namesOf('challenge')]
  if (hidden.length > 0) {
    log.info({ names: toLogged(hidden) }, 'offered only to callers with the scopes that they need')
  }
  if (challenged.length > 0) {
    const message = 'offered to all callers, but used only with the scopes that they need'
    log.info({ names: toLogged(challenged) }, message)
  }
}
