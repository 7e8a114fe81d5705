// Finds environment variables that look like settings and are none. The service would ignore a misspelt or a
// removed one in silence.

import { createNearestNames } from '../../base/nearest-names.ts'
import { ROWS } from './settings.ts'

export interface UnknownVariable {
  readonly variable: string
  /** What to do about a variable that was a setting. */
  readonly advice?: string
  /** The variables that it may mean, the most similar first. */
  readonly nearest?: readonly string[]
}

/** Kubernetes gives these to each pod, for a Service with the name `trivet`. */
const OF_KUBERNETES = /^TRIVET_(?:\w+_)?(?:SERVICE_(?:HOST|PORT)|PORT)(?:_\w+)?$/

/** Variables of commands that do not serve. */
const OF_COMMANDS = ['TRIVET_TOKEN']

/** What to do instead of setting a variable that was a setting. */
export const REMOVED: { readonly [variable: string]: string } = {
  TRIVET_AUTH_SUBJECT_CLAIMS: 'TRIVET_AUTH_PRESET decides which claims have the subject',
  TRIVET_LIMIT_ALL_CALLS: 'set limits.allCalls in server.yaml',
  TRIVET_LIMIT_ALL_RUNNING: 'set limits.allRunning in server.yaml, or TRIVET_MAX_REQUESTS',
  TRIVET_LIMIT_CALLS: 'set TRIVET_MAX_CALLS_PER_CALLER',
  TRIVET_LIMIT_RUNNING: 'set TRIVET_MAX_RUNNING_PER_CALLER',
  TRIVET_LIMIT_SESSIONS: 'one caller may have 100000 sessions with settings',
  TRIVET_LIMIT_STREAMS: 'set TRIVET_MAX_STREAMS: one caller may have half of them',
  TRIVET_MAX_BODY_DEPTH: 'a body may have 128 levels; limits.argumentDepth in server.yaml can be lower',
  TRIVET_MAX_EMBEDDED_BYTES: 'a file of more than 1 MiB becomes a link',
  TRIVET_MAX_HANDLES: 'set TRIVET_MAX_HANDLES_PER_CALLER',
  TRIVET_MAX_HEADER_BYTES: 'the headers of a request may have 16384 bytes',
  TRIVET_MAX_LOOP_DELAY_MS: 'the limit is 50 ms; TRIVET_OVERLOAD=off takes it away',
  TRIVET_MAX_MEMORY_PERCENT: 'the limit is 90 percent; TRIVET_OVERLOAD=off takes it away',
  TRIVET_MAX_OWNER_FILE_BYTES: 'set TRIVET_MAX_FILE_BYTES_PER_CALLER',
  TRIVET_MAX_RESULT_BYTES: 'a result may have 32 MiB; limits.resultBytes in server.yaml can be lower',
  TRIVET_MAX_TASKS: 'set TRIVET_MAX_TASKS_PER_CALLER',
  TRIVET_PAGE_SIZE: 'set pageSize in server.yaml',
  TRIVET_SESSION_IDLE_MS: 'settings of a session are kept for a day after their last use',
  TRIVET_SESSION_TTL_MS: 'a session lasts for seven days',
  TRIVET_TASK_GRACE_MS: "a call becomes a task after 1000 ms; a tool with task: 'required' makes each one"
}

export function findUnknownVariables (
  environment: { readonly [variable: string]: string | undefined }
): UnknownVariable[] {
  const variables = [...OF_COMMANDS, ...ROWS.map(([, { variable }]) => variable)]
  const findNearest = createNearestNames(variables)
  return Object.keys(environment)
    .filter((name) => name.startsWith('TRIVET_') && !variables.includes(name) && !OF_KUBERNETES.test(name))
    .map((variable) => {
      const advice = REMOVED[variable]
      return advice === undefined
        ? { variable, nearest: findNearest(variable, () => true) }
        : { variable, advice }
    })
}

/** Finds what to do instead of an option of `createApp` that was one. Names options, as its caller does. */
export function adviceFor (option: string): string | undefined {
  const advice = REMOVED[`TRIVET_${option.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`]
  return advice?.replaceAll(/TRIVET_([A-Z_]+)(?:=(\w+))?/g, (_, variable: string, value?: string) => {
    const name = variable.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    return value === undefined ? name : `${name}: '${value}'`
  })
}
