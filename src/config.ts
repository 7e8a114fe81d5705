// Every setting of the service, with its default, its unit and its bounds. Read once, frozen, and complained of all at once.

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

/** How one setting is read: from the text of its variable to its value, or a throw of what it must be. */
interface Setting<T> {
  readonly variable: string
  readonly fallback: T
  readonly read: (text: string) => T
  /** Never repeated in a complaint. */
  readonly isSecret?: true
}

type Settings = { readonly [K in keyof Config]: Setting<Config[K]> }

const NO_SECRETS = 'TRIVET_SECRETS is not set, but TRIVET_STATE_URL is shared: no other replica could open what one has sealed. ' +
  'Give all replicas the same secret of 32 characters or more, such as the output of: openssl rand -base64 48'

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export const SETTINGS: Settings = {
  host: { variable: 'HOST', fallback: '127.0.0.1', read: text('an address or a host name', /^[^\s/]+$/) },
  port: { variable: 'PORT', fallback: 3000, read: integer(0, 65_535) },
  path: { variable: 'TRIVET_PATH', fallback: '/mcp', read: text('a path such as /mcp, and neither /livez nor /readyz', /^(?!\/(?:livez|readyz)$)\/[\w./-]*$/) },
  catalog: { variable: 'TRIVET_CATALOG', fallback: './catalog', read: text('the path of a folder', /\S/) },
  watch: { variable: 'TRIVET_WATCH', fallback: 'on', read: oneOf(['on', 'off', 'poll'] as const) },
  auth: { variable: 'TRIVET_AUTH', fallback: undefined, read: oneOf(['none'] as const) },
  allowedHosts: { variable: 'TRIVET_ALLOWED_HOSTS', fallback: [], read: list('host names, each with or without a port', /^[^\s/,]+$/) },
  allowedOrigins: { variable: 'TRIVET_ALLOWED_ORIGINS', fallback: [], read: list('origins such as https://app.example.com', /^(?:\*|[a-z][a-z0-9+.-]*:\/\/[^\s/,]+)$/i) },
  logLevel: { variable: 'TRIVET_LOG_LEVEL', fallback: 'info', read: oneOf(LOG_LEVELS) },
  pageSize: { variable: 'TRIVET_PAGE_SIZE', fallback: 1000, read: integer(1, 100_000) },
  maxBodyBytes: { variable: 'TRIVET_MAX_BODY_BYTES', fallback: 1_048_576, read: integer(1024, 104_857_600) },
  maxResourceBytes: { variable: 'TRIVET_MAX_RESOURCE_BYTES', fallback: 10_485_760, read: integer(1024, 268_435_456) },
  maxStreams: { variable: 'TRIVET_MAX_STREAMS', fallback: 10_000, read: integer(1, 1_000_000) },
  keepAliveMs: { variable: 'TRIVET_KEEP_ALIVE_MS', fallback: 25_000, read: integer(100, 3_600_000) },
  requestTimeoutMs: { variable: 'TRIVET_REQUEST_TIMEOUT_MS', fallback: 30_000, read: integer(1, 3_600_000) },
  shutdownTimeoutMs: { variable: 'TRIVET_SHUTDOWN_TIMEOUT_MS', fallback: 10_000, read: integer(0, 600_000) },
  drainMs: { variable: 'TRIVET_DRAIN_MS', fallback: 0, read: integer(0, 600_000) },
  stateUrl: { variable: 'TRIVET_STATE_URL', fallback: 'file:./data', isSecret: true, read: text(STATE_URL_FORM, { test: isStateUrl }) },
  statePrefix: { variable: 'TRIVET_STATE_PREFIX', fallback: 'trivet', read: text('1 to 64 letters, digits, -, _ or .', /^[\w.-]{1,64}$/) },
  maxHandles: { variable: 'TRIVET_MAX_HANDLES', fallback: 10_000, read: integer(1, 10_000_000) },
  secrets: { variable: 'TRIVET_SECRETS', fallback: [], isSecret: true, read: list('secrets of 32 characters or more each', /^.{32,}$/) },
  requestStateTtlMs: { variable: 'TRIVET_REQUEST_STATE_TTL_MS', fallback: 900_000, read: integer(1000, 86_400_000) },
  legacy: { variable: 'TRIVET_LEGACY', fallback: 'on', read: oneOf(['on', 'off'] as const) },
  sessionTtlMs: { variable: 'TRIVET_SESSION_TTL_MS', fallback: 604_800_000, read: integer(60_000, 2_592_000_000) },
  sessionIdleMs: { variable: 'TRIVET_SESSION_IDLE_MS', fallback: 86_400_000, read: integer(1000, 2_592_000_000) }
}

/** Settings that cannot be used, with every reason. */
export class ConfigError extends Error {
  readonly complaints: readonly string[]

  constructor (complaints: readonly string[], options?: ErrorOptions) {
    super(`The settings are not usable:\n${complaints.map((complaint) => `  ${complaint}`).join('\n')}`, options)
    this.name = 'ConfigError'
    this.complaints = complaints
  }
}

/** The settings of an environment. A variable that is empty counts as absent. Throws a ConfigError with every complaint. */
export function readConfig (environment: { readonly [variable: string]: string | undefined }): Config {
  const complaints: string[] = []
  function read<K extends keyof Config> (key: K): Config[K] {
    const { variable, fallback, read, isSecret }: Setting<Config[K]> = SETTINGS[key]
    const written = environment[variable]?.trim() ?? ''
    if (written === '') return fallback
    try {
      return read(written)
    } catch (error) {
      const got = isSecret === true ? 'something else' : JSON.stringify(written)
      complaints.push(`${variable} must be ${error instanceof Error ? error.message : String(error)}, got ${got}`)
      return fallback
    }
  }
  const config: Config = {
    host: read('host'),
    port: read('port'),
    path: read('path'),
    catalog: read('catalog'),
    watch: read('watch'),
    auth: read('auth'),
    allowedHosts: read('allowedHosts'),
    allowedOrigins: read('allowedOrigins'),
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
  if (!isLoopback(config.host) && config.auth === undefined) {
    complaints.push(`HOST is ${config.host}, which others can reach: say who may use the service. TRIVET_AUTH=none lets everyone in`)
  }
  if (lacksSecrets(config)) complaints.push(NO_SECRETS)
  if (complaints.length > 0) throw new ConfigError(complaints)
  return Object.freeze(config)
}

/** The given settings, and the defaults for all others. Throws a ConfigError where they do not go together. */
export function completeConfig (given: Partial<Config>): Config {
  const config = { ...readConfig({}), ...given }
  if (lacksSecrets(config)) throw new ConfigError([NO_SECRETS])
  return Object.freeze(config)
}

/** Replicas that share a store serve the same requests, and must be able to open what another has sealed. */
function lacksSecrets ({ stateUrl, secrets }: Config): boolean {
  return isSharedUrl(stateUrl) && secrets.length === 0
}

/** Whether only this machine can reach an address. */
export function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

function integer (min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN
    if (!(value >= min && value <= max)) throw new RangeError(`an integer from ${min} to ${max}`)
    return value
  }
}

function oneOf<const T extends string> (values: readonly T[]): (text: string) => T {
  return (text) => {
    const value = values.find((one) => one === text)
    if (value === undefined) throw new RangeError(values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`)
    return value
  }
}

function text (form: string, pattern: Pick<RegExp, 'test'>): (text: string) => string {
  return (text) => {
    if (!pattern.test(text)) throw new RangeError(form)
    return text
  }
}

function list (form: string, pattern: RegExp): (text: string) => readonly string[] {
  return (text) => {
    const values = text.split(',').map((value) => value.trim()).filter((value) => value !== '')
    if (!values.every((value) => pattern.test(value))) throw new RangeError(`a comma-separated list of ${form}`)
    return Object.freeze(values)
  }
}
