// Finds environment variables that look like settings and are none. A misspelt one would do nothing, in
// silence.

import { createNearestNames } from '../../base/nearest-names.ts'
import { SETTINGS } from './settings.ts'

export interface UnknownVariable {
  readonly variable: string
  /** The variables that it may mean, the most similar first. */
  readonly nearest: readonly string[]
}

/** Kubernetes gives these to each pod, for a Service with the name `trivet`. */
const OF_KUBERNETES = /^TRIVET_(?:\w+_)?(?:SERVICE_(?:HOST|PORT)|PORT)(?:_\w+)?$/

/** Of commands that do not serve. */
const OF_COMMANDS = ['TRIVET_TOKEN']

export function findUnknownVariables (
  environment: { readonly [variable: string]: string | undefined }
): UnknownVariable[] {
  const known = [...OF_COMMANDS, ...Object.values(SETTINGS).map(({ variable }) => variable)]
  const findNearest = createNearestNames(known)
  return Object.keys(environment)
    .filter((name) => name.startsWith('TRIVET_') && !known.includes(name) && !OF_KUBERNETES.test(name))
    .map((variable) => ({ variable, nearest: findNearest(variable, () => true) }))
}
