// Reads the settings once and freezes them. All problems are reported together.

import { inspect } from 'node:util'
import { isLoopback } from '../../base/loopback.ts'
import { isSharedUrl } from '../../store/backends/url-schemes.ts'
import { findAccessConflicts } from './access-settings.ts'
import type { Setting } from './setting-kinds.ts'
import { collect, SETTINGS, type Config } from './settings.ts'

/** The settings that only the process uses. The app uses all others. */
type ProcessKey = 'host' | 'port' | 'adminPort' | 'adminHost' | 'logLevelFile' | 'otlpUrl'

export type AppConfig = Omit<Config, ProcessKey>

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
  const config = collect((key) => {
    const { variable, fallback, kind, isSecret } = settingOf(key)
    const written = environment[variable]?.trim() ?? ''
    if (written === '') return fallback
    const value = kind.parse(written)
    if (kind.accepts(value)) return value
    const shown = isSecret === true ? 'something else' : JSON.stringify(written)
    problems.push(`${spell(variable)} must be ${kind.textForm ?? kind.form}, got ${shown}`)
    return fallback
  })
  if (!isLoopback(config.host) && config.auth.length === 0) {
    problems.push(
      `HOST is ${config.host}, which others can reach: say who may use the service. ` +
      'TRIVET_AUTH=none lets everyone in'
    )
  }
  problems.push(...findConflicts(config))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

const NO_ADMIN_OPTION =
  'is not an option of createApp: only a service that runs as a process has an admin address'

/** The problems of settings that are not options of `createApp`. */
const NOT_OPTIONS: { readonly [K in ProcessKey]: string } = {
  host: 'host is not an option of createApp: pass it to app.listen()',
  port: 'port is not an option of createApp: pass it to app.listen()',
  adminPort: `adminPort ${NO_ADMIN_OPTION}`,
  adminHost: `adminHost ${NO_ADMIN_OPTION}`,
  logLevelFile: 'logLevelFile is not an option of createApp: only a process reads it again after SIGHUP',
  otlpUrl: 'otlpUrl is not an option of createApp: register an SDK of OpenTelemetry before you call it'
}

/** Adds the defaults to the given options. Throws a ConfigError with every problem. */
export function completeConfig (given: Partial<AppConfig>): AppConfig {
  const options = new Map<string, unknown>(Object.entries(given).filter(([, value]) => value !== undefined))
  const problems = [...options.keys()].flatMap((key) => {
    if (isProcessKey(key)) return [NOT_OPTIONS[key]]
    return Object.hasOwn(SETTINGS, key) ? [] : [`${key} is not an option of createApp`]
  })
  const { host, port, adminPort, adminHost, logLevelFile, otlpUrl, ...config } = collect((key) => {
    const { fallback, kind, isSecret } = settingOf(key)
    if (!options.has(key) || isProcessKey(key)) return fallback
    const value = options.get(key)
    if (kind.accepts(value)) return value
    problems.push(`${key} must be ${kind.form}, got ${isSecret === true ? 'something else' : inspect(value)}`)
    return fallback
  })
  problems.push(...findConflicts(config))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

/** The problems of settings that are valid alone, but not together. */
function findConflicts (config: AppConfig): string[] {
  return [...needsSecrets(config) ? [MISSING_SECRETS] : [], ...findAccessConflicts(config)]
}

function isProcessKey (key: string): key is ProcessKey {
  return Object.hasOwn(NOT_OPTIONS, key)
}

function settingOf<K extends keyof Config> (key: K): Setting<Config[K]> {
  return SETTINGS[key]
}

/** Replicas that share a store must be able to open the tokens that another replica has sealed. */
function needsSecrets ({ stateUrl, secrets }: Pick<Config, 'stateUrl' | 'secrets'>): boolean {
  return isSharedUrl(stateUrl) && secrets.length === 0
}
