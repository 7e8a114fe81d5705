// Reads the settings once and freezes them. All problems are reported together.

import { inspect } from 'node:util'
import { isLoopback } from '../../base/addresses.ts'
import { createNearestNames } from '../../base/nearest-names.ts'
import { messageOf } from '../../base/words.ts'
import { isSharedUrl } from '../../platform/store/backends/url-schemes.ts'
import { findAccessConflicts } from './access-settings.ts'
import { CONSTANTS, type Constants } from './constants.ts'
import type { Setting } from './setting-kinds.ts'
import { divideLimits } from './divided-limits.ts'
import { ROWS, type Config, type ProcessKey } from './settings.ts'
import { adviceFor } from './unknown-variables.ts'

/** The settings that are options of `createApp`. */
export type AppConfig = Omit<Config, ProcessKey>

/** The settings and the constants of a service. */
export type ServiceConfig = AppConfig & Constants

interface ConfigOptions extends Partial<AppConfig> {
  readonly constants?: Partial<Constants> | undefined
}

const MISSING_SECRETS =
  'TRIVET_SECRETS is not set, but TRIVET_STATE_URL is shared: ' +
  'no other replica could open what one has sealed. ' +
  'Give all replicas the same secret of 32 characters or more, such as the output of: openssl rand -base64 48'

/** The settings cannot be used. `problems` has every reason. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor (problems: readonly string[], options?: ErrorOptions) {
    super(`The settings are not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, options)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Throws a ConfigError whose problem is the reason of an error. */
export function failConfig (cause: unknown): never {
  throw new ConfigError([messageOf(cause)], { cause })
}

/**
 * Reads the settings from environment variables. An empty variable counts as absent. Throws a ConfigError
 * with every problem.
 *
 * @param spell the words for a variable in problems: its user may have written a flag.
 */
export function readConfig (
  environment: { readonly [variable: string]: string | undefined },
  spell = (variable: string): string => variable
): Config {
  const problems: string[] = []
  const invalid: string[] = []
  const config = collect((_, { variable, fallback, kind, isSecret }) => {
    const text = environment[variable]?.trim() ?? ''
    if (text === '') return fallback
    const value = kind.parse(text)
    if (kind.accepts(value)) return value
    const quote = isSecret === true ? 'something else' : JSON.stringify(text)
    invalid.push(variable)
    problems.push(`${spell(variable)} must be ${kind.textForm ?? kind.form}, got ${quote}`)
    return fallback
  })
  const conflicts = findConflicts(config)
  if (!isLoopback(config.host) && config.auth.length === 0) {
    conflicts.unshift(
      `HOST is ${config.host}, which others can reach: say who may use the service. ` +
      'TRIVET_AUTH=none lets everyone in'
    )
  }
  if (config.workers !== 'auto' && config.workers > 1 && !isSharedUrl(config.stateUrl)) {
    conflicts.push(describeUnshared(config))
  }
  problems.push(...conflicts.filter((conflict) => !namesAny(conflict, invalid)))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

/** The path of a folder is left out: only the scheme matters. */
function describeUnshared ({ workers, stateUrl }: Config): string {
  const scheme = stateUrl.slice(0, stateUrl.indexOf(':') + 1)
  return `TRIVET_WORKERS is ${workers}, and TRIVET_STATE_URL is ${scheme}, which is ` +
    'for one process. Set a state that workers share, such as redis:// or postgres://, or TRIVET_WORKERS=1'
}

/** Adds the defaults and the constants to the options. Throws a ConfigError with every problem. */
export function completeConfig ({ constants, ...options }: ConfigOptions): ServiceConfig {
  const values = new Map<string, unknown>(Object.entries(options).filter(([, value]) => value !== undefined))
  const problems = [...values.keys()].flatMap((option) => findMisuse(option) ?? [])
  const invalid: string[] = []
  const config = toAppConfig(collect((option, { variable, fallback, kind, isSecret, processOnly }) => {
    if (!values.has(option) || processOnly !== undefined) return fallback
    const value = values.get(option)
    if (kind.accepts(value)) return value
    const quote = isSecret === true ? 'something else' : inspect(value)
    invalid.push(variable)
    problems.push(`${option} must be ${kind.form}, got ${quote}`)
    return fallback
  }))
  problems.push(...findConflicts(config).filter((conflict) => !namesAny(conflict, invalid)))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(divideLimits({ ...CONSTANTS, ...constants, ...config }))
}

/** Returns the settings without those that only the process uses. */
export function toAppConfig (config: Config): AppConfig {
  const appConfig: AppConfig & { [K in ProcessKey]?: unknown } = { ...config }
  for (const [option, { processOnly }] of ROWS) {
    if (processOnly !== undefined) Reflect.deleteProperty(appConfig, option)
  }
  return appConfig
}

/** Calls `read` for each setting. It returns an accepted value, or the fallback. */
function collect (read: (option: string, setting: Setting) => unknown): Config {
  const values = Object.fromEntries(ROWS.map(([option, setting]) => [option, read(option, setting)]))
  if (!isConfig(values)) throw new TypeError('a setting was read that its row does not accept')
  return values
}

function isConfig (values: { readonly [option: string]: unknown }): values is Config {
  return ROWS.every(([option, { kind, fallback }]) => {
    return values[option] === fallback || kind.accepts(values[option])
  })
}

/** The options of `createApp` that are settings. */
export const OPTION_NAMES: readonly string[] = ROWS.filter(
  ([, { processOnly }]) => processOnly === undefined
).map(([option]) => option)

/** Finds the problem of a name that is no option of `createApp`. */
function findMisuse (option: string): string | undefined {
  const setting = ROWS.find(([name]) => name === option)?.[1]
  const advice = setting === undefined ? adviceFor(option) : setting.processOnly
  if (setting !== undefined && advice === undefined) return undefined
  if (advice !== undefined) return `${option} is not an option of createApp: ${advice}`
  const [nearest] = createNearestNames(OPTION_NAMES)(option, () => true)
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`
  return `${option} is not an option of createApp${hint}`
}

/** A setting whose value is not valid has its default, which may conflict with others. */
function namesAny (conflict: string, variables: readonly string[]): boolean {
  return variables.some((variable) => new RegExp(`\\b${variable}\\b`).test(conflict))
}

/** Returns this wait, or a shorter one that ends before its request times out. In milliseconds. */
export function waitWithin (requestTimeoutMs: number, longestMs: number): number {
  return Math.min(longestMs, Math.floor(requestTimeoutMs * 5 / 6))
}

/** Finds the problems of settings that are valid alone, but not together. */
function findConflicts (config: AppConfig): string[] {
  // Replicas that share a store must open the tokens that another replica has sealed.
  const needsSecrets = isSharedUrl(config.stateUrl) && config.secrets.length === 0
  const { taskWaitMs = 0, requestTimeoutMs } = config
  const waits = taskWaitMs < requestTimeoutMs || taskWaitMs === 0
    ? []
    : [`TRIVET_TASK_WAIT_MS is ${taskWaitMs}, and TRIVET_REQUEST_TIMEOUT_MS is ${requestTimeoutMs}: ` +
      'a request must be able to wait that long. Make the first less than the second']
  return [...needsSecrets ? [MISSING_SECRETS] : [], ...waits, ...findAccessConflicts(config)]
}
