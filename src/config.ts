// Every setting of the service, with its default, its unit and its bounds. Settings are read once and frozen.
// All problems are reported together.

import { inspect } from 'node:util'
import { isProxyRange } from './access/proxy-range.ts'
import { isSharedUrl, isStateUrl, STATE_URL_FORM } from './backends/url-schemes.ts'

export interface Config {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly catalog: string
  readonly watch: 'on' | 'off' | 'poll'
  readonly auth: 'none' | undefined
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
  readonly logLevel: string
  readonly pageSize: number
  readonly maxBodyBytes: number
  readonly maxResourceBytes: number
  readonly maxStreams: number
  readonly keepAliveMs: number
  readonly requestTimeoutMs: number
  readonly shutdownTimeoutMs: number
  readonly drainMs: number
  readonly stateUrl: string
  readonly statePrefix: string
  readonly maxHandles: number
  readonly secrets: readonly string[]
  readonly requestStateTtlMs: number
  readonly legacy: 'on' | 'off'
  readonly sessionTtlMs: number
  readonly sessionIdleMs: number
}

/** The settings that only the process uses, to listen. The app uses all others. */
type ListeningKey = 'host' | 'port' | 'auth'

export type AppConfig = Omit<Config, ListeningKey>

/** The values that a setting may have. */
interface Kind<T> {
  /** The values in words: completes "must be". */
  readonly form: string
  /** The same for an environment variable, if the words differ. */
  readonly textForm?: string
  /** Converts the text of an environment variable to a value, which may not be valid. */
  readonly parse: (text: string) => unknown
  readonly accepts: (value: unknown) => value is T
}

interface Setting<T> {
  readonly variable: string
  readonly fallback: T
  readonly kind: Kind<T>
  /** Whether problems must not contain the value. */
  readonly isSecret?: true
}

type Settings = { readonly [K in keyof Config]: Setting<Config[K]> }

const MISSING_SECRETS =
  'TRIVET_SECRETS is not set, but TRIVET_STATE_URL is shared: ' +
  'no other replica could open what one has sealed. ' +
  'Give all replicas the same secret of 32 characters or more, such as the output of: openssl rand -base64 48'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export const SETTINGS: Settings = {
  host: { variable: 'HOST', fallback: '127.0.0.1', kind: address() },
  port: { variable: 'PORT', fallback: 3000, kind: integer(0, 65_535) },
  path: {
    variable: 'TRIVET_PATH',
    fallback: '/mcp',
    kind: text('a path such as /mcp, and neither /livez nor /readyz', /^(?!\/(?:livez|readyz)$)\/[\w./-]*$/)
  },
  catalog: { variable: 'TRIVET_CATALOG', fallback: './catalog', kind: text('the path of a folder', /\S/) },
  watch: { variable: 'TRIVET_WATCH', fallback: 'on', kind: oneOf(['on', 'off', 'poll'] as const) },
  auth: { variable: 'TRIVET_AUTH', fallback: undefined, kind: oneOf(['none'] as const) },
  allowedHosts: {
    variable: 'TRIVET_ALLOWED_HOSTS',
    fallback: [],
    kind: list('host names, each with or without a port', /^[^\s/,]+$/)
  },
  allowedOrigins: {
    variable: 'TRIVET_ALLOWED_ORIGINS',
    fallback: [],
    kind: list('origins such as https://app.example.com', /^(?:\*|[a-z][a-z0-9+.-]*:\/\/[^\s/,]+)$/i)
  },
  trustedProxies: {
    variable: 'TRIVET_TRUSTED_PROXIES',
    fallback: [],
    kind: list(
      'addresses, ranges such as 10.0.0.0/8, loopback, linklocal or uniquelocal', { test: isProxyRange }
    )
  },
  logLevel: { variable: 'TRIVET_LOG_LEVEL', fallback: 'info', kind: oneOf(LOG_LEVELS) },
  pageSize: { variable: 'TRIVET_PAGE_SIZE', fallback: 1000, kind: integer(1, 100_000) },
  maxBodyBytes: { variable: 'TRIVET_MAX_BODY_BYTES', fallback: 1_048_576, kind: integer(1024, 104_857_600) },
  maxResourceBytes: {
    variable: 'TRIVET_MAX_RESOURCE_BYTES', fallback: 10_485_760, kind: integer(1024, 268_435_456)
  },
  maxStreams: { variable: 'TRIVET_MAX_STREAMS', fallback: 10_000, kind: integer(1, 1_000_000) },
  keepAliveMs: { variable: 'TRIVET_KEEP_ALIVE_MS', fallback: 25_000, kind: integer(100, 3_600_000) },
  requestTimeoutMs: { variable: 'TRIVET_REQUEST_TIMEOUT_MS', fallback: 30_000, kind: integer(1, 3_600_000) },
  shutdownTimeoutMs: { variable: 'TRIVET_SHUTDOWN_TIMEOUT_MS', fallback: 10_000, kind: integer(0, 600_000) },
  drainMs: { variable: 'TRIVET_DRAIN_MS', fallback: 0, kind: integer(0, 600_000) },
  stateUrl: {
    variable: 'TRIVET_STATE_URL',
    fallback: 'file:./data',
    isSecret: true,
    kind: text(STATE_URL_FORM, { test: isStateUrl })
  },
  statePrefix: {
    variable: 'TRIVET_STATE_PREFIX',
    fallback: 'trivet',
    kind: text('1 to 64 letters, digits, -, _ or .', /^[\w.-]{1,64}$/)
  },
  maxHandles: { variable: 'TRIVET_MAX_HANDLES', fallback: 10_000, kind: integer(1, 10_000_000) },
  secrets: {
    variable: 'TRIVET_SECRETS',
    fallback: [],
    isSecret: true,
    kind: list('secrets of 32 characters or more each', /^.{32,}$/)
  },
  requestStateTtlMs: {
    variable: 'TRIVET_REQUEST_STATE_TTL_MS', fallback: 900_000, kind: integer(1000, 86_400_000)
  },
  legacy: { variable: 'TRIVET_LEGACY', fallback: 'on', kind: oneOf(['on', 'off'] as const) },
  sessionTtlMs: {
    variable: 'TRIVET_SESSION_TTL_MS', fallback: 604_800_000, kind: integer(60_000, 2_592_000_000)
  },
  sessionIdleMs: {
    variable: 'TRIVET_SESSION_IDLE_MS', fallback: 86_400_000, kind: integer(1000, 2_592_000_000)
  }
}

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
 */
export function readConfig (environment: { readonly [variable: string]: string | undefined }): Config {
  const problems: string[] = []
  const config = collect((key) => {
    const { variable, fallback, kind, isSecret } = settingOf(key)
    const written = environment[variable]?.trim() ?? ''
    if (written === '') return fallback
    const value = kind.parse(written)
    if (kind.accepts(value)) return value
    const shown = isSecret === true ? 'something else' : JSON.stringify(written)
    problems.push(`${variable} must be ${kind.textForm ?? kind.form}, got ${shown}`)
    return fallback
  })
  if (!isLoopback(config.host) && config.auth === undefined) {
    problems.push(
      `HOST is ${config.host}, which others can reach: say who may use the service. ` +
      'TRIVET_AUTH=none lets everyone in'
    )
  }
  if (needsSecrets(config)) problems.push(MISSING_SECRETS)
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

/** The problems of settings that are not options of `createApp`. */
const NOT_OPTIONS: { readonly [K in ListeningKey]: string } = {
  host: 'host is not an option of createApp: pass it to app.listen()',
  port: 'port is not an option of createApp: pass it to app.listen()',
  auth: 'auth is not an option of createApp: pass an authenticator'
}

/** Adds the defaults to the given options. Throws a ConfigError with every problem. */
export function completeConfig (given: Partial<AppConfig>): AppConfig {
  const options = new Map<string, unknown>(Object.entries(given).filter(([, value]) => value !== undefined))
  const problems = [...options.keys()].flatMap((key) => {
    if (isListeningKey(key)) return [NOT_OPTIONS[key]]
    return Object.hasOwn(SETTINGS, key) ? [] : [`${key} is not an option of createApp`]
  })
  const { host, port, auth, ...config } = collect((key) => {
    const { fallback, kind, isSecret } = settingOf(key)
    if (!options.has(key) || isListeningKey(key)) return fallback
    const value = options.get(key)
    if (kind.accepts(value)) return value
    problems.push(`${key} must be ${kind.form}, got ${isSecret === true ? 'something else' : inspect(value)}`)
    return fallback
  })
  if (needsSecrets(config)) problems.push(MISSING_SECRETS)
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

function isListeningKey (key: string): key is ListeningKey {
  return Object.hasOwn(NOT_OPTIONS, key)
}

function settingOf<K extends keyof Config> (key: K): Setting<Config[K]> {
  return SETTINGS[key]
}

/** Calls `read` for each setting. */
function collect (read: <K extends keyof Config>(key: K) => Config[K]): Config {
  return {
    host: read('host'),
    port: read('port'),
    path: read('path'),
    catalog: read('catalog'),
    watch: read('watch'),
    auth: read('auth'),
    allowedHosts: read('allowedHosts'),
    allowedOrigins: read('allowedOrigins'),
    trustedProxies: read('trustedProxies'),
    logLevel: read('logLevel'),
    pageSize: read('pageSize'),
    maxBodyBytes: read('maxBodyBytes'),
    maxResourceBytes: read('maxResourceBytes'),
    maxStreams: read('maxStreams'),
    keepAliveMs: read('keepAliveMs'),
    requestTimeoutMs: read('requestTimeoutMs'),
    shutdownTimeoutMs: read('shutdownTimeoutMs'),
    drainMs: read('drainMs'),
    stateUrl: read('stateUrl'),
    statePrefix: read('statePrefix'),
    maxHandles: read('maxHandles'),
    secrets: read('secrets'),
    requestStateTtlMs: read('requestStateTtlMs'),
    legacy: read('legacy'),
    sessionTtlMs: read('sessionTtlMs'),
    sessionIdleMs: read('sessionIdleMs')
  }
}

/** Replicas that share a store must be able to open the tokens that another replica has sealed. */
function needsSecrets ({ stateUrl, secrets }: Pick<Config, 'stateUrl' | 'secrets'>): boolean {
  return isSharedUrl(stateUrl) && secrets.length === 0
}

/** Whether only this machine can reach an address. */
export function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

function integer (min: number, max: number): Kind<number> {
  return {
    form: `an integer from ${min} to ${max}`,
    parse: (text) => /^\d+$/.test(text) ? Number(text) : text,
    accepts: (value): value is number => typeof value === 'number' && Number.isInteger(value) &&
      value >= min && value <= max
  }
}

function oneOf<const T extends string> (values: readonly T[]): Kind<T> {
  return {
    form: values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`,
    parse: (text) => text,
    accepts: (value): value is T => values.some((one) => one === value)
  }
}

function text (form: string, pattern: Pick<RegExp, 'test'>): Kind<string> {
  return {
    form,
    parse: (text) => text,
    accepts: (value): value is string => typeof value === 'string' && pattern.test(value)
  }
}

function address (): Kind<string> {
  const kind = text('an address or a host name', /^[^\s/]+$/)
  // An IPv6 address has brackets in a URL, but not when it is listened on.
  return { ...kind, parse: (text) => text.replace(/^\[(.*)\]$/, '$1') }
}

function list (form: string, pattern: Pick<RegExp, 'test'>): Kind<readonly string[]> {
  return {
    form: `a list of ${form}`,
    textForm: `a comma-separated list of ${form}`,
    parse: (text) => Object.freeze(
      text.split(',').map((value) => value.trim()).filter((value) => value !== '')
    ),
    accepts: (value): value is readonly string[] => Array.isArray(value) &&
      value.every((one) => typeof one === 'string' && pattern.test(one))
  }
}
