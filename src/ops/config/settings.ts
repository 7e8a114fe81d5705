// Every setting of the service, with its default, its unit and its bounds.

import { PRESETS } from '../../access/presets.ts'
import { isProxyRange } from '../../access/proxy-range.ts'
import { isHttpUrl, isPublicUrl, isServerUrl } from '../../access/server-url.ts'
import { RATE_FORM, RATE_PATTERN } from '../../limits/rate.ts'
import { isStateUrl, STATE_URL_FORM } from '../../store/backends/url-schemes.ts'
import { collectFileSettings, FILE_SETTINGS, type LargeFileSettings } from './file-settings.ts'
import { address, integer, keyOf, list, manyOf, oneOf, text, type Setting } from './setting-kinds.ts'

export interface Config extends LargeFileSettings {
  readonly host: string
  readonly port: number
  /** `undefined`: the service has no admin address. */
  readonly adminPort: number | undefined
  readonly adminHost: string
  readonly path: string
  readonly catalog: string
  readonly watch: 'on' | 'off' | 'poll'
  readonly auth: ReadonlyArray<'none' | 'jwt' | 'introspection' | 'tokens'>
  readonly publicUrl: string | undefined
  readonly authIssuers: readonly string[]
  readonly authAudiences: readonly string[]
  readonly authScopes: readonly string[]
  readonly authPreset: keyof typeof PRESETS
  readonly authScopeClaims: readonly string[]
  readonly authSubjectClaims: readonly string[]
  readonly authClientId: string | undefined
  readonly authClientSecret: string | undefined
  readonly authClientKey: string | undefined
  readonly authIntrospectionUrl: string | undefined
  readonly authTokens: string | undefined
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  readonly trustedProxies: readonly string[]
  readonly logLevel: string
  readonly logLevelFile: string | undefined
  /** `undefined`: the service keeps no audit log. */
  readonly auditFile: string | undefined
  /** `undefined`: the service sends no traces by itself. */
  readonly otlpUrl: string | undefined
  readonly pageSize: number
  readonly maxBodyBytes: number
  readonly maxBodyDepth: number
  readonly maxHeaderBytes: number
  readonly maxResultBytes: number
  readonly maxResourceBytes: number
  readonly maxStreams: number
  readonly keepAliveMs: number
  readonly requestTimeoutMs: number
  readonly shutdownTimeoutMs: number
  readonly drainMs: number
  readonly stateUrl: string
  readonly statePrefix: string
  readonly maxHandles: number
  readonly maxTasks: number
  readonly taskGraceMs: number
  readonly taskLeaseMs: number
  readonly maxLoopDelayMs: number
  readonly maxMemoryPercent: number
  readonly maxRequests: number
  readonly limitCalls: string | undefined
  readonly limitAllCalls: string | undefined
  readonly limitRunning: number
  readonly limitAllRunning: number
  /** `undefined`: a share of `maxStreams`. */
  readonly limitStreams: number | undefined
  readonly limitSessions: number
  readonly secrets: readonly string[]
  readonly requestStateTtlMs: number
  readonly legacy: 'on' | 'off'
  readonly sessionTtlMs: number
  readonly sessionIdleMs: number
}

type Settings = { readonly [K in keyof Config]: Setting<Config[K]> }

const RATE = text(RATE_FORM, new RegExp(RATE_PATTERN))
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export const SETTINGS: Settings = {
  host: { variable: 'HOST', fallback: '127.0.0.1', kind: address() },
  port: { variable: 'PORT', fallback: 3000, kind: integer(0, 65_535) },
  adminPort: { variable: 'TRIVET_ADMIN_PORT', fallback: undefined, kind: integer(0, 65_535) },
  adminHost: { variable: 'TRIVET_ADMIN_HOST', fallback: '127.0.0.1', kind: address() },
  path: {
    variable: 'TRIVET_PATH',
    fallback: '/mcp',
    kind: text(
      'a path such as /mcp, and neither /livez, /readyz nor below /.well-known',
      /^(?!\/(?:livez|readyz|\.well-known(?:\/.*)?)$)\/[\w./-]*$/
    )
  },
  catalog: { variable: 'TRIVET_CATALOG', fallback: './catalog', kind: text('the path of a folder', /\S/) },
  watch: { variable: 'TRIVET_WATCH', fallback: 'on', kind: oneOf(['on', 'off', 'poll'] as const) },
  auth: { variable: 'TRIVET_AUTH', fallback: [], kind: manyOf(['none', 'jwt', 'introspection', 'tokens']) },
  publicUrl: {
    variable: 'TRIVET_PUBLIC_URL',
    fallback: undefined,
    kind: text(
      'the URL of the endpoint for clients, such as https://mcp.example.com/mcp, without a query, a fragment ' +
        'or a slash at its end (http:// only for this machine)', { test: isPublicUrl }
    )
  },
  authIssuers: {
    variable: 'TRIVET_AUTH_ISSUERS',
    fallback: [],
    kind: list('https:// URLs of authorization servers (http:// only for this machine)', { test: isServerUrl })
  },
  authAudiences: {
    variable: 'TRIVET_AUTH_AUDIENCES',
    fallback: [],
    kind: list('audiences, each alone or after its issuer and a space', /^\S+(?: \S+)?$/)
  },
  authScopes: {
    variable: 'TRIVET_AUTH_SCOPES',
    fallback: [],
    // A server must not advertise offline_access.
    kind: list('scopes, without offline_access', /^(?!offline_access$)[\x21\x23-\x5b\x5d-\x7e]+$/)
  },
  authPreset: { variable: 'TRIVET_AUTH_PRESET', fallback: 'standard', kind: keyOf(PRESETS) },
  authScopeClaims: { variable: 'TRIVET_AUTH_SCOPE_CLAIMS', fallback: [], kind: list('claims', /\S/) },
  authSubjectClaims: { variable: 'TRIVET_AUTH_SUBJECT_CLAIMS', fallback: [], kind: list('claims', /\S/) },
  authClientId: { variable: 'TRIVET_AUTH_CLIENT_ID', fallback: undefined, kind: text('a client id', /\S/) },
  authClientSecret: {
    variable: 'TRIVET_AUTH_CLIENT_SECRET', fallback: undefined, isSecret: true, kind: text('a secret', /\S/)
  },
  authClientKey: {
    variable: 'TRIVET_AUTH_CLIENT_KEY',
    fallback: undefined,
    isSecret: true,
    kind: text('a private key in PEM or as a JWK', /^\s*(?:-----BEGIN|\{)/)
  },
  authIntrospectionUrl: {
    variable: 'TRIVET_AUTH_INTROSPECTION_URL',
    fallback: undefined,
    kind: text('an https:// URL (http:// only for this machine)', { test: isServerUrl })
  },
  authTokens: { variable: 'TRIVET_AUTH_TOKENS', fallback: undefined, kind: text('the path of a file', /\S/) },
  allowedHosts: {
    variable: 'TRIVET_ALLOWED_HOSTS',
    fallback: [],
    kind: list('host names, each with or without a port', /^[^\s/,*]+$/)
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
  logLevelFile: {
    variable: 'TRIVET_LOG_LEVEL_FILE', fallback: undefined, kind: text('the path of a file', /\S/)
  },
  auditFile: { variable: 'TRIVET_AUDIT_FILE', fallback: undefined, kind: text('the path of a file', /\S/) },
  otlpUrl: {
    variable: 'TRIVET_OTLP_URL',
    fallback: undefined,
    isSecret: true,
    kind: text('an http:// or https:// URL without a user, a query or a fragment', { test: isHttpUrl })
  },
  pageSize: { variable: 'TRIVET_PAGE_SIZE', fallback: 1000, kind: integer(1, 100_000) },
  maxBodyBytes: { variable: 'TRIVET_MAX_BODY_BYTES', fallback: 1_048_576, kind: integer(1024, 104_857_600) },
  maxBodyDepth: { variable: 'TRIVET_MAX_BODY_DEPTH', fallback: 128, kind: integer(8, 10_000) },
  maxHeaderBytes: { variable: 'TRIVET_MAX_HEADER_BYTES', fallback: 16_384, kind: integer(1024, 1_048_576) },
  maxResultBytes: {
    variable: 'TRIVET_MAX_RESULT_BYTES', fallback: 33_554_432, kind: integer(1024, 268_435_456)
  },
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
  maxTasks: { variable: 'TRIVET_MAX_TASKS', fallback: 1000, kind: integer(1, 1_000_000) },
  taskGraceMs: { variable: 'TRIVET_TASK_GRACE_MS', fallback: 1000, kind: integer(0, 60_000) },
  taskLeaseMs: { variable: 'TRIVET_TASK_LEASE_MS', fallback: 10_000, kind: integer(500, 600_000) },
  ...FILE_SETTINGS,
  maxLoopDelayMs: { variable: 'TRIVET_MAX_LOOP_DELAY_MS', fallback: 50, kind: integer(0, 60_000) },
  maxMemoryPercent: { variable: 'TRIVET_MAX_MEMORY_PERCENT', fallback: 90, kind: integer(1, 100) },
  maxRequests: { variable: 'TRIVET_MAX_REQUESTS', fallback: 10_000, kind: integer(1, 1_000_000) },
  limitCalls: { variable: 'TRIVET_LIMIT_CALLS', fallback: undefined, kind: RATE },
  limitAllCalls: { variable: 'TRIVET_LIMIT_ALL_CALLS', fallback: undefined, kind: RATE },
  limitRunning: { variable: 'TRIVET_LIMIT_RUNNING', fallback: 1000, kind: integer(1, 1_000_000) },
  limitAllRunning: { variable: 'TRIVET_LIMIT_ALL_RUNNING', fallback: 10_000, kind: integer(1, 1_000_000) },
  limitStreams: { variable: 'TRIVET_LIMIT_STREAMS', fallback: undefined, kind: integer(1, 1_000_000) },
  limitSessions: { variable: 'TRIVET_LIMIT_SESSIONS', fallback: 100_000, kind: integer(64, 10_000_000) },
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

/** The variables of the settings whose values nobody else may read. */
export const SECRET_VARIABLES: readonly string[] = Object.values(SETTINGS)
  .filter(({ isSecret }) => isSecret === true).map(({ variable }) => variable)

/** Calls `read` for each setting. */
export function collect (read: <K extends keyof Config>(key: K) => Config[K]): Config {
  return {
    host: read('host'),
    port: read('port'),
    adminPort: read('adminPort'),
    adminHost: read('adminHost'),
    path: read('path'),
    catalog: read('catalog'),
    watch: read('watch'),
    auth: read('auth'),
    publicUrl: read('publicUrl'),
    authIssuers: read('authIssuers'),
    authAudiences: read('authAudiences'),
    authScopes: read('authScopes'),
    authPreset: read('authPreset'),
    authScopeClaims: read('authScopeClaims'),
    authSubjectClaims: read('authSubjectClaims'),
    authClientId: read('authClientId'),
    authClientSecret: read('authClientSecret'),
    authClientKey: read('authClientKey'),
    authIntrospectionUrl: read('authIntrospectionUrl'),
    authTokens: read('authTokens'),
    allowedHosts: read('allowedHosts'),
    allowedOrigins: read('allowedOrigins'),
    trustedProxies: read('trustedProxies'),
    logLevel: read('logLevel'),
    logLevelFile: read('logLevelFile'),
    auditFile: read('auditFile'),
    otlpUrl: read('otlpUrl'),
    pageSize: read('pageSize'),
    maxBodyBytes: read('maxBodyBytes'),
    maxBodyDepth: read('maxBodyDepth'),
    maxHeaderBytes: read('maxHeaderBytes'),
    maxResultBytes: read('maxResultBytes'),
    maxResourceBytes: read('maxResourceBytes'),
    maxStreams: read('maxStreams'),
    keepAliveMs: read('keepAliveMs'),
    requestTimeoutMs: read('requestTimeoutMs'),
    shutdownTimeoutMs: read('shutdownTimeoutMs'),
    drainMs: read('drainMs'),
    stateUrl: read('stateUrl'),
    statePrefix: read('statePrefix'),
    maxHandles: read('maxHandles'),
    maxTasks: read('maxTasks'),
    taskGraceMs: read('taskGraceMs'),
    taskLeaseMs: read('taskLeaseMs'),
    ...collectFileSettings(read),
    maxLoopDelayMs: read('maxLoopDelayMs'),
    maxMemoryPercent: read('maxMemoryPercent'),
    maxRequests: read('maxRequests'),
    limitCalls: read('limitCalls'),
    limitAllCalls: read('limitAllCalls'),
    limitRunning: read('limitRunning'),
    limitAllRunning: read('limitAllRunning'),
    limitStreams: read('limitStreams'),
    limitSessions: read('limitSessions'),
    secrets: read('secrets'),
    requestStateTtlMs: read('requestStateTtlMs'),
    legacy: read('legacy'),
    sessionTtlMs: read('sessionTtlMs'),
    sessionIdleMs: read('sessionIdleMs')
  }
}
